"""A bound, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

import msgspec

from fdverify.bounds.bound_formula import BoundFormula, FormulaCase, Polynomial, StatedFormula
from fdverify.runs.run_table import ShownRun
from fdverify.verdict import Obligation

ALL_PARAMETERS = "all parameters"
_KNOWN = "exact|upper bound, attained in [0-9]+ instances|lower bound|measured in [0-9]+ instances"
Status: TypeAlias = Annotated[str, msgspec.Meta(pattern=f"^({_KNOWN})$")]
"""What is known of all parameters; how a bound is known where neither half is proved."""
StatusOrNone: TypeAlias = Annotated[str, msgspec.Meta(pattern=f"^({_KNOWN}|unknown|violated|vacuous)$")]
"""The same, or the verdict where there is no bound."""


@dataclass(frozen=True)
class Evidence:
    """Why a formula is enough, or why nothing less is: for which parameters, in words, with what was shown for it."""

    scope: str
    detail: str
    obligations: tuple[Obligation, ...] = ()
    trace: ShownRun | None = None


@dataclass(frozen=True)
class DetectorBound:
    """A formula that gives all that was measured; whether it is enough for all parameters; where nothing less is."""

    name: str
    meaning: str
    formula: BoundFormula | StatedFormula
    enough: Evidence | None
    """Why the formula is enough."""
    witness: Evidence
    """Why nothing less is."""
    explored: int
    """How many instances were explored for it."""
    linear: Polynomial | None = None
    """The least linear formula that is nowhere smaller."""
    linear_enough: Evidence | None = None
    linear_attained: int = 0
    """In how many of the instances explored the linear formula is what was measured."""

    WRITTEN = (
        "name",
        "meaning",
        "formula",
        "cases",
        "linear",
        "status",
        "upper_bound",
        "attained",
        "proof",
        "witness",
        "explored",
    )

    @property
    def status(self) -> Status:
        """What is known of all parameters; of the instances explored, nothing less than the formula is enough."""
        if self.enough is not None and self.witness.scope == ALL_PARAMETERS:
            return "exact"
        if self.upper_bound is not None:
            return f"upper bound, attained in {self.attained} instances"
        return "lower bound" if self.witness.scope == ALL_PARAMETERS else f"measured in {self.explored} instances"

    @property
    def upper_bound(self) -> BoundFormula | StatedFormula | Polynomial | None:
        """What is proved to be enough for all parameters: the formula, or else the linear one."""
        if self.enough is not None:
            return self.formula
        return None if self.linear_enough is None else self.linear

    @property
    def attained(self) -> int:
        """In how many of the instances explored nothing less than the upper bound, or than the formula, is enough."""
        return self.explored if self.enough is not None or self.linear_enough is None else self.linear_attained

    @property
    def proof(self) -> Evidence | None:
        """Why the upper bound is one."""
        return self.enough or self.linear_enough

    @property
    def cases(self) -> tuple[FormulaCase, ...]:
        return self.formula.cases

    @property
    def proved(self) -> bool:
        return self.upper_bound is not None
