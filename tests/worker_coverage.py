"""Let worker processes save which lines they have run, before the package kills them.

Workers are always killed, idle or not, and what coverage.py has measured in a killed process is lost.  While it
measures, ``kill`` first asks a forked process to save, and kills it after a moment anyway.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.process import BaseProcess
from typing import Any

_PATIENCE_SECONDS = 1.0
"""A process that runs C code does not hear a signal."""


def save_before_kill() -> None:
    """Set it up in this process and all that it forks; without coverage.py, do nothing."""
    if "coverage" in sys.modules and _find_measurement() is not None:
        os.register_at_fork(after_in_child=_listen)
        kill = BaseProcess.kill

        def ask_and_kill(process: BaseProcess) -> None:
            if process.pid is not None and process.is_alive():
                os.kill(process.pid, signal.SIGUSR2)
                process.join(_PATIENCE_SECONDS)
            kill(process)

        BaseProcess.kill = ask_and_kill  # type: ignore[method-assign, assignment]


def _find_measurement() -> Any:
    import coverage

    return coverage.Coverage.current()


def _listen() -> None:
    signal.signal(signal.SIGUSR2, _save_and_end)


def _save_and_end(number: int, frame: object) -> None:
    try:
        _find_measurement().save()
    finally:
        os.kill(os.getpid(), signal.SIGKILL)
