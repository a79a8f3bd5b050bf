"""Work in a process of its own, which can be stopped at any moment.

Solvers do not always heed their own limits, nor Python's signals while they compute.  A process can be killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from time import monotonic
from typing import Any, TypeVar

from fdverify.deadline import earliest
from fdverify.errors import (
    Exhausted,
    FdverifyError,
    InternalError,
    UsageError,
    describe,
    exhaustion,
    file_fault,
    one_line,
)
from fdverify.models.user_files import blame, is_ours

Outcome = TypeVar("Outcome")
_LONGEST_WAIT = 3600.0  # at a time: the system refuses to wait for ever in one go


class TimeLimitReached(Exception):
    """The work was killed because its time was up."""


class WorkerDied(Exception):
    """The process ended without an answer; the message says how."""


def run_in_worker(
    work: Callable[[Callable[[Any], None]], Outcome],
    time_limit: float | None,
    on_event: Callable[[Any], None],
    with_workers: bool = False,
) -> Outcome:
    """Call ``work(send)`` in a new process; what it sends reaches ``on_event`` here, what it returns is returned.

    An error of this package is raised here as it was raised there.  However this function ends, the process has ended,
    and with it the worker processes that it may have started itself (``with_workers``).
    """
    here, there = context().Pipe(duplex=False)
    process = context().Process(target=_work, args=(work, there), daemon=not with_workers)
    start(process)
    there.close()
    deadline = earliest(None if time_limit is None else monotonic() + time_limit)
    try:
        while True:
            left = _LONGEST_WAIT if deadline is None else deadline - monotonic()
            if left <= 0:
                raise TimeLimitReached
            if not here.poll(min(left, _LONGEST_WAIT)):
                continue
            kind, content = _received(here, process)
            if kind == "event":
                on_event(content)
            elif kind == "error":
                raise WorkerDied(str(content)) if isinstance(content, Exhausted) else content
            else:
                outcome: Outcome = content
                return outcome
    finally:
        process.kill()
        process.join()
        here.close()


def _received(here: Connection, process: Any) -> tuple[str, Any]:
    try:
        message: tuple[str, Any] = here.recv()
        return message
    except Exception as error:
        if not isinstance(error, EOFError | OSError):
            raise InternalError(describe(error)) from error  # an object that cannot be read here
        process.join()
        how = f"signal {-process.exitcode}" if process.exitcode < 0 else f"exit code {process.exitcode}"
        raise WorkerDied(f"the worker process ended with {how}, perhaps out of memory") from None


def context() -> Any:
    """How processes are made: forking is an order of magnitude faster than a fresh interpreter."""
    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def start(process: Any) -> None:
    """Start a process; a Ctrl-C meanwhile is answered here, after it, and never there."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            # Python warns of forking where there are threads, such as those of a test runner: a lock that one of them
            # holds is never released in the new process.  What is done there needs no lock but Python's own.
            warnings.filterwarnings("ignore", message=".*multi-threaded", category=DeprecationWarning)
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def prepare_process() -> None:
    """What every worker process does first."""
    # Ctrl-C reaches the whole process group; who started this process decides what to do about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # Stdout is for results; what a user's file prints must not get between them.
    os.dup2(2, 1)
    # One process a core is enough: numpy's own threads would cost memory and win nothing here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    except RuntimeError:  # the system gives no more threads
        os._exit(1)


def send_answer(there: Connection, work: Callable[[], Any]) -> None:
    """Send what came of the work."""
    worker = os.getpid()
    try:
        message = ForkingPickler.dumps(("done", work()))
    except MemoryError:
        os._exit(1)
    except BaseException as error:  # whatever it is, it must reach the user as one line and not as a silent exit
        message = ForkingPickler.dumps(("error", _error_of(error)))
    if os.getpid() != worker:
        os._exit(1)  # the work has forked, and one of the two must not answer
    there.send_bytes(message)


def _error_of(error: BaseException) -> FdverifyError:
    """An error of this package for whatever was raised, which can be sent to another process."""
    if isinstance(error, FdverifyError):
        if not is_ours(error):  # an author may have classes below ours, of which other processes do not know
            return blame(error) or UsageError(one_line(error))
        return error
    lost = exhaustion(error)
    if lost is not None:
        return Exhausted(lost)
    return blame(error) or file_fault(error) or InternalError(describe(error))


def _work(work: Callable[[Callable[[Any], None]], Any], there: Connection) -> None:
    prepare_process()
    send_answer(there, lambda: work(lambda event: there.send(("event", event))))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
