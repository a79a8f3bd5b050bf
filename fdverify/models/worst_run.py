"""Runs that break a claim about states, one for all parameters: how a bound is attained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fdverify.logic import Number, Truth
from fdverify.models.system import State, truthful


@dataclass(frozen=True)
class WorstRun:
    """A plan that leads from the initial state to one in which a property is false.

    Until then ``within`` holds and ``left`` falls, which is never negative.  That is claimed for all parameters that
    satisfy what is assumed of them, and proved before the run is shown.
    """

    breaks: str
    within: Callable[[State], Truth]
    left: Callable[[State], Number]
    plan: Callable[[State], Mapping[str, Any]]
    """What to choose in the round that begins in a state, as in a growing loop."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "within", truthful("what holds within a worst run", self.within))
