"""A bound, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass

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
    linear_attained: int = 0
    """In how many of the instances explored the linear formula is what was measured."""

    @property
    def status(self) -> str:
        """What is known of all parameters; of the instances explored, nothing less than the formula is enough."""
        if self.enough is not None and self.needed.scope == ALL:
            return "exact"
        if self.upper_bound is not None:
            return f"upper bound, attained in {self.attained} instances"
        return "lower bound" if self.needed.scope == ALL else f"measured in {self.measured} instances"

    @property
    def upper_bound(self) -> Formula | Stated | Sum | None:
        """What is proved to be enough for all parameters: the formula, or else the linear one."""
        if self.enough is not None:
            return self.formula
        return None if self.linear_enough is None else self.linear

    @property
    def attained(self) -> int:
        """In how many of the instances explored nothing less than the upper bound, or than the formula, is enough."""
        return self.measured if self.enough is not None or self.linear_enough is None else self.linear_attained

    @property
    def proved(self) -> bool:
        return self.upper_bound is not None
