"""A bound, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fdverify.discovery.bounds.formula import Formula, Stated, Sum
from fdverify.traces.steps import Shown
from fdverify.verdict import Obligation

ALL = "all parameters"


@dataclass(frozen=True)
class Evidence:
    """Why a formula is enough, or why nothing less is: for which parameters, in words, with what was shown for it."""

    scope: str
    detail: str
    obligations: tuple[Obligation, ...] = ()
    run: Shown | None = None


@dataclass(frozen=True)
class Bound:
    """A formula that gives all that was measured; whether it is enough for all parameters; where nothing less is."""

    name: str
    meaning: str
    formula: Formula | Stated
    enough: Evidence | None
    needed: Evidence
    measured: int
    """How many instances were explored for it."""
    linear: Sum | None = None
    """The least linear formula that is nowhere smaller."""
    linear_enough: Evidence | None = None

    @property
    def status(self) -> Literal["exact", "upper and lower bound", "lower bound"]:
        if self.enough is not None:
            return "exact"
        return "lower bound" if self.linear_enough is None else "upper and lower bound"
