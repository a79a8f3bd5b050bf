"""What the system says about processes; read from /proc, so on Linux only."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    pid: int
    state: str
    parent: int
    session: int
    cpu_seconds: float


def living() -> list[Process]:
    """Every process that has not ended; one that has and is only waited for does not count."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            process = _read(int(entry.name))
            if process is not None and process.state not in "ZX":
                found.append(process)
    return found


def children(pid: int) -> list[Process]:
    return [process for process in living() if process.parent == pid]


def workers(pid: int) -> list[Process]:
    """The processes in which a command computes: children of the one that does what was asked, itself a child."""
    commands = {process.pid for process in children(pid)}
    return [process for process in living() if process.parent in commands]


def in_session(session: int) -> list[Process]:
    return [process for process in living() if process.session == session]


def heed_interrupts() -> None:
    """For a process that is to be interrupted.

    A shell starts what runs in its background with SIGINT ignored, and that is inherited.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    """Whether it came to hold within a time that is long enough on any machine."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _read(pid: int) -> Process | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name stands in parentheses and may hold anything.
    fields = text.rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return Process(pid, fields[0], int(fields[1]), int(fields[3]), ticks / os.sysconf("SC_CLK_TCK"))
