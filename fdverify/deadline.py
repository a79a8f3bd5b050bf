"""The moment by which a command has to answer, whatever it is doing then.

It is known from the first moment on and holds for all that the command waits for, besides limits of its own.  Without a
command, as in a program that uses this package, there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

RENEWED, LIFTED = "renewed", "lifted"


@dataclass(frozen=True)
class Deadline:
    """A time limit in seconds, when it ends, and who is told if it is renewed or lifted."""

    limit: float
    moment: float
    tell: Callable[[str], None]


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def set_deadline(deadline: Deadline) -> None:
    _CURRENT.set(deadline)


def earliest(deadline: float | None) -> float | None:
    """A deadline of one's own, or the command's if that is sooner."""
    current = _CURRENT.get()
    if current is None:
        return deadline
    return current.moment if deadline is None else min(deadline, current.moment)


def renew_deadline() -> None:
    """Begin to count anew, where the limit is for each of several things."""
    current = _CURRENT.get()
    if current is not None:
        _CURRENT.set(Deadline(current.limit, monotonic() + current.limit, current.tell))
        current.tell(RENEWED)


def lift_deadline() -> None:
    """Leave it from now on to limits of its own."""
    current = _CURRENT.get()
    if current is not None:
        _CURRENT.set(None)
        current.tell(LIFTED)
