"""The process in which a command runs: it tells the one that watches over it how far it is and how it ended."""

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


def run_command(module: str, arguments: Sequence[str], pipe: int, limit: tuple[float, float] | None) -> None:
    """Run a command, and tell its exit code: a process that ends in another way has not come to one."""
    line = open_pipe(pipe)
    if limit is not None:
        set_deadline(Deadline(*limit, line.send))
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt_once)
    open_streams()
    try:
        code = _begin(module)(arguments)
    except BaseException as error:  # it could not be imported, or was interrupted on the way
        code = end_after(error)
    line.send(f"done {code}")


def _begin(module: str) -> Callable[[Sequence[str]], int]:
    """Import the command; Ctrl-C is answered from now on."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # One process a core is enough: numpy's own threads would cost memory and win nothing here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    run: Callable[[Sequence[str]], int] = import_module(module).run
    return run


def _interrupt_once(number: int, frame: object) -> None:
    """Ctrl-C comes from the terminal and from the process that watches, and clearing up must not be interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise UserInterrupt
