"""Process trees: processes that end with their parent, adopted orphans, and killing all descendants."""

from __future__ import annotations

import os
import signal
import sys
from time import monotonic, sleep

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def end_with_parent(parent: int) -> None:
    """Make the system kill this process when its parent ends, even while it runs C code; on Linux only."""
    _call_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # the parent ended before this was asked for


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent has ended, so that they can be found; on Linux only."""
    _call_prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _call_prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        try:
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
        except (OSError, AttributeError):  # this C library has no prctl
            return


def kill_children(seconds: float) -> None:
    """Kill and await all children and, if orphans are adopted, all descendants; give up after this many seconds."""
    end = monotonic() + seconds
    while monotonic() < end:
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        for child in _list_children():
            try:
                os.kill(child, signal.SIGKILL)
            except OSError:
                continue
        sleep(0.002)


def _list_children() -> list[int]:
    """List the children of this process, as far as /proc shows them."""
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    return [int(pid) for pid in pids if _read_parent(pid) == os.getpid()]


def _read_parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name of the command is in parentheses and may contain any character, even parentheses.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
