"""Asking the system about processes: that they end with their parent, and which ones there are."""

from __future__ import annotations

import os
import signal
import sys
from time import monotonic, sleep

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def end_with_parent(parent: int) -> None:
    """Have this process killed when its parent ends, even while it computes in C; on Linux only."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # the parent ended before this was asked for


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent has ended, so that they can be found; on Linux only."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(what: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        try:
            ctypes.CDLL(None).prctl(what, value, 0, 0, 0)
        except (OSError, AttributeError):  # a system without it does without
            return


def kill_children(seconds: float) -> None:
    """Kill and await all children and, if orphans are adopted, all descendants; give up after so many seconds."""
    end = monotonic() + seconds
    while monotonic() < end:
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        for child in _children():
            try:
                os.kill(child, signal.SIGKILL)
            except OSError:
                continue
        sleep(0.002)


def _children() -> list[int]:
    """The children of this process, if the system tells."""
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    return [int(number) for number in numbers if _parent(number) == os.getpid()]


def _parent(number: str) -> int | None:
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            # The name stands in parentheses and may hold anything.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
