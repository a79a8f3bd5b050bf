"""Worst runs: runs that violate a claim about states, described for all parameters.  They show a bound to be tight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fdverify.logic import Number, Truth
from fdverify.models.system import State, require_truth_value


@dataclass(frozen=True)
class WorstRun:
    """A plan that leads from the initial state to a state in which a property is false.

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
