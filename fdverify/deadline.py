"""The deadline of a command: the moment by which it has to answer.

It is set when the command starts, and applies to everything that the command waits for, besides other limits.  A
program that uses this package without a command has no deadline.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

RENEWED, LIFTED = "renewed", "lifted"


@dataclass(frozen=True)
class Deadline:
    """A time limit in seconds, the moment it ends, and a function to call when it is renewed or lifted."""

    limit: float
    moment: float
    tell: Callable[[str], None]


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def set_deadline(deadline: Deadline) -> None:
    _CURRENT.set(deadline)


def choose_earlier_deadline(deadline: float | None) -> float | None:
    """Return the earlier of this deadline and the command's; ``None`` stands for no deadline."""
    current = _CURRENT.get()
    if current is None:
        return deadline
    return current.moment if deadline is None else min(deadline, current.moment)


def renew_deadline() -> None:
    """Restart the time limit, for a command that applies it to each of several tasks."""
    current = _CURRENT.get()
    if current is not None:
        _CURRENT.set(Deadline(current.limit, monotonic() + current.limit, current.tell))
        current.tell(RENEWED)


def lift_deadline() -> None:
    """Remove the deadline; from now on only other limits apply."""
    current = _CURRENT.get()
    if current is not None:
        _CURRENT.set(None)
        current.tell(LIFTED)
