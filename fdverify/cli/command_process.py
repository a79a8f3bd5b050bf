"""The process in which a command runs.  It reports its progress and its exit code to the supervisor process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from importlib import import_module

from fdverify.cli.exit_codes import end_after
from fdverify.cli.streams import open_streams
from fdverify.cli.supervisor_pipe import open_pipe
from fdverify.deadline import Deadline, set_deadline
from fdverify.errors import UserInterrupt
from fdverify.workers.garbage import search_garbage_rarely


def run_command(module: str, arguments: Sequence[str], pipe: int, limit: tuple[float, float] | None) -> None:
    """Run a command and send its exit code to the supervisor.  A process that ends without sending one has failed."""
    search_garbage_rarely()
    line = open_pipe(pipe)
    if limit is not None:
        set_deadline(Deadline(*limit, line.send))
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt_once)
    open_streams()
    try:
        code = _import_command(module)(arguments)
    except BaseException as error:  # the import failed, or was interrupted
        code = end_after(error)
    line.send(f"done {code}")


def _import_command(module: str) -> Callable[[Sequence[str]], int]:
    """Unblock Ctrl-C, and import the function that runs the command."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # One process per core is enough: numpy's own threads would cost memory and gain nothing here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    run: Callable[[Sequence[str]], int] = import_module(module).run
    return run


def _interrupt_once(number: int, frame: object) -> None:
    """Raise an interrupt once.  Ctrl-C comes from terminal and supervisor, and must not interrupt the cleanup."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise UserInterrupt
