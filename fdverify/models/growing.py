"""Runs that break a liveness property for ever although no state comes back: in each turn a variable grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fdverify.logic import Number, Truth
from fdverify.models.system import State, truthful


@dataclass(frozen=True)
class GrowingLoop:
    """A plan that leads from a state back to it but for one variable, which is then one higher.

    A turn begins where ``starts`` holds and ends in the round that changes the variable called ``grows``.  On the way
    ``within`` holds and ``left`` falls, which is never negative.  The initial state is on the way of a turn.  All this
    is claimed for every value of the variable from ``least`` on, and proved before the loop is shown.
    """

    breaks: str
    """The liveness property that is false at some time in each turn."""
    grows: str
    least: int
    starts: Callable[[State], Truth]
    within: Callable[[State], Truth]
    left: Callable[[State], Number]
    plan: Callable[[State], Mapping[str, Any]]
    """What to choose in the round that begins in a state: yes or no, or which ages.

    Those are ``all``, ``oldest``, a set of numbers, or a list of numbers that may depend on the state.  A
    condition and ages stand for those ages where the condition holds, else for none.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", truthful("the start of a growing loop", self.starts))
        object.__setattr__(self, "within", truthful("what holds within a growing loop", self.within))
