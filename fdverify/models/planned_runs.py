"""Planned runs: growing loops and worst runs, which models describe for all parameters by the choices of each round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fdverify.logic import Number, Truth
from fdverify.models.system import State, require_truth_value


@dataclass(frozen=True)
class GrowingLoop:
    """A run that violates a liveness property forever although no state recurs.

    Its plan leads from a state back to the same state, except that one variable has grown by one.

    A turn begins where ``starts`` holds and ends in the round that changes the variable ``grows``.  During the turn,
    ``within`` holds, and ``left`` decreases and is never negative.  The initial state lies within a turn.  All this is
    claimed for every value of the variable from ``least`` on, and proved before the loop is shown.
    """

    breaks: str
    """The liveness property that is false at some time in each turn."""
    grows: str
    least: int
    starts: Callable[[State], Truth]
    within: Callable[[State], Truth]
    left: Callable[[State], Number]
    plan: Callable[[State], Mapping[str, Any]]
    """The choices for the round that begins in a state: a truth value for a flag, ages for a subset, a number.

    A number is ``least``, ``greatest``, or one that may depend on the state.

    Ages are ``all``, ``oldest``, a set of numbers, or a list of numbers that may depend on the state.  A pair of a
    condition and one of these means that where the condition holds, and elsewhere no ages, or the least number.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", require_truth_value("the start condition of a growing loop", self.starts))
        object.__setattr__(self, "within", require_truth_value("the condition within a growing loop", self.within))


@dataclass(frozen=True)
class WorstRun:
    """A plan that leads from the initial state to a state in which a property is false.  It shows a bound to be tight.

    Until then ``within`` holds, and ``left`` decreases and is never negative.  This is claimed for all parameters that
    satisfy the assumptions, and proved before the run is shown.
    """

    breaks: str
    within: Callable[[State], Truth]
    left: Callable[[State], Number]
    plan: Callable[[State], Mapping[str, Any]]
    """The choices for the round that begins in a state, as in :class:`GrowingLoop`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "within", require_truth_value("the condition within a worst run", self.within))
