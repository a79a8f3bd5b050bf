"""Worker processes, which can be killed at any moment.

Solvers do not always respect their own limits, and Python handles no signal while they compute.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from fdverify.deadline import choose_earlier_deadline
from fdverify.errors import (
    FdverifyError,
    InternalError,
    ResourcesExhausted,
    UsageError,
    convert_file_error,
    describe_error,
    find_exhausted_resource,
    format_one_line,
)
from fdverify.models.loading import blame_user_file, is_package_error
from fdverify.workers.garbage import pass_over_inherited_objects, search_garbage_rarely

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Value = TypeVar("Value")
LOADED, EVENT = "loaded", "event"
"""The kinds of messages that a task sends while it runs."""
_LONGEST_WAIT = 3600.0  # per call: the system refuses an unlimited timeout


class TimeLimitReached(Exception):
    """The worker process was killed because the time limit was reached."""


class WorkerDied(Exception):
    """The worker process ended without an answer; the message says how."""


def run_in_worker(
    work: Callable[[Callable[[Any], None]], Value],
    time_limit: float | None,
    on_event: Callable[[Any], None],
    with_workers: bool = False,
) -> Value:
    """Call ``work(send)`` in a new process and return its value; ``on_event`` gets here what it sends.

    An error of this package that is raised in the process is raised again here.  When this function returns or raises,
    the process has ended, and so have the worker processes that it may have started itself (``with_workers``).
    """
    here, there = get_process_context().Pipe(duplex=False)
    process = get_process_context().Process(target=_run_and_send, args=(work, there), daemon=not with_workers)
    start_process(process)
    there.close()
    deadline = choose_earlier_deadline(None if time_limit is None else monotonic() + time_limit)
    try:
        while True:
            left = _LONGEST_WAIT if deadline is None else deadline - monotonic()
            if left <= 0:
                raise TimeLimitReached
            if not here.poll(min(left, _LONGEST_WAIT)):
                continue
            kind, content = _receive_message(here, process)
            if kind == EVENT:
                on_event(content)
            elif kind == "error":
                raise WorkerDied(str(content)) if isinstance(content, ResourcesExhausted) else content
            else:
                value: Value = content
                return value
    finally:
        process.kill()
        process.join()
        here.close()


def _receive_message(here: Connection, process: Any) -> tuple[str, Any]:
    try:
        message: tuple[str, Any] = here.recv()
        return message
    except Exception as error:
        if not isinstance(error, EOFError | OSError):
            raise InternalError(describe_error(error)) from error  # the object cannot be unpickled here
        process.join()
        cause = f"signal {-process.exitcode}" if process.exitcode < 0 else f"exit code {process.exitcode}"
        raise WorkerDied(f"the worker process ended with {cause}, perhaps out of memory") from None


def get_process_context() -> Any:
    """Return the multiprocessing context; forking is an order of magnitude faster than a new interpreter."""
    import multiprocessing  # it is slow to import, and --help starts no process

    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def start_process(process: Any) -> None:
    """Start a process.  A Ctrl-C meanwhile is handled in this process afterwards, and never in the new one."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            # Python warns about forking while there are threads, such as those of a test runner: a lock that one of
            # them holds is never released in the new process.  A worker needs no locks except Python's own.
            warnings.filterwarnings("ignore", message=".*multi-threaded", category=DeprecationWarning)
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def prepare_process() -> None:
    """Set up a worker process; every worker calls this first."""
    # Ctrl-C reaches the whole process group; the process that started this one handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    search_garbage_rarely()
    pass_over_inherited_objects()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # Stdout is for results, so what a user's file prints goes to stderr.
    os.dup2(2, 1)
    # There is one process per core already: numpy's own threads would cost memory and gain nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        threading.Thread(target=_exit_with_parent, daemon=True).start()
    except RuntimeError:  # no more threads are available
        os._exit(1)


def limit_memory(megabytes: int | None) -> None:
    """Limit the memory of this process, if a limit is given; on Linux only."""
    if megabytes is not None and sys.platform == "linux":
        import resource

        size = megabytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def send_outcome(there: Connection, work: Callable[[], Any]) -> None:
    """Do the work, and send its value or its error."""
    from multiprocessing.reduction import ForkingPickler

    worker = os.getpid()
    try:
        message = ForkingPickler.dumps(("done", work()))
    except MemoryError:
        os._exit(1)
    except BaseException as error:  # every error must reach the user as one line, not as a silent exit
        message = ForkingPickler.dumps(("error", convert_error(error)))
    if os.getpid() != worker:
        os._exit(1)  # the work has forked; only the original process may answer
    there.send_bytes(message)


def run_parts(there: Connection, loading: Callable[[], Any] | None, work: Callable[..., Any], reports: bool) -> Any:
    """Run the parts of a task in a worker process: tell when it has loaded, and send what it reports."""
    given: list[Any] = []
    if loading is not None:
        worker = os.getpid()
        given.append(loading())
        if os.getpid() != worker:
            os._exit(1)  # the loading has forked; only the original process goes on
        there.send((LOADED, None))
    if reports:
        given.append(lambda event: there.send((EVENT, event)))
    return work(*given)


def convert_error(error: BaseException) -> FdverifyError:
    """Convert any exception into an error of this package, which can be sent to another process."""
    if isinstance(error, FdverifyError):
        if not is_package_error(error):  # an author's subclass of our errors is unknown in other processes
            return blame_user_file(error) or UsageError(format_one_line(error))
        return error
    resource = find_exhausted_resource(error)
    if resource is not None:
        return ResourcesExhausted(resource)
    return blame_user_file(error) or convert_file_error(error) or InternalError(describe_error(error))


def _run_and_send(work: Callable[[Callable[[Any], None]], Any], there: Connection) -> None:
    prepare_process()
    send_outcome(there, lambda: work(lambda event: there.send((EVENT, event))))


def _exit_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
