"""A bound of a detector: its subject, and the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import msgspec

from fdverify.bounds.bound_formula import BoundFormula, FormulaCase, Polynomial, StatedFormula
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.model import OptionValue
from fdverify.runs.run_table import ShownRun
from fdverify.verdict import Obligation

ALL_PARAMETERS = "all parameters"
_KNOWN = "exact|upper bound, attained in [0-9]+ instances|lower bound|measured in [0-9]+ instances"
Status: TypeAlias = Annotated[str, msgspec.Meta(pattern=f"^({_KNOWN})$")]
"""What is known for all parameters, or how the bound was measured if neither direction is proved."""
StatusOrNone: TypeAlias = Annotated[str, msgspec.Meta(pattern=f"^({_KNOWN}|unknown|violated|vacuous)$")]
"""The status, or the verdict if there is no bound."""


@dataclass(frozen=True)
class BoundSubject:
    """A model with its options, the property, and what reports call the watched and the watching process."""

    model: str
    options: Mapping[str, str]
    claim: str
    watched: str = "sender"
    watcher: str = "receiver"
    counts_rounds: bool = False


def describe_subject(request: CheckRequest) -> BoundSubject:
    """Describe the subject by the system that the request builds."""
    system = request.build_system()
    claim = request.find_property(system).name
    if system.detector is None:
        return BoundSubject(system.name, dict(system.options), claim)
    about = system.detector
    return BoundSubject(system.name, dict(system.options), claim, about.watched, about.watcher, about.counts_rounds)


def describe_expected_subject(model: str, options: Mapping[str, OptionValue], claim: str) -> BoundSubject:
    """Describe the subject by what is known before the system is built."""
    return BoundSubject(model, {name: str(value) for name, value in options.items() if value is not None}, claim)


@dataclass(frozen=True)
class Evidence:
    """Evidence that a formula is enough, or that nothing less is: which parameters it covers, and the obligations."""

    scope: str
    detail: str
    obligations: tuple[Obligation, ...] = ()
    trace: ShownRun | None = None


@dataclass(frozen=True)
class DetectorBound:
    """A formula that fits all measurements, with evidence that it is enough, and that nothing less is enough."""

    name: str
    meaning: str
    formula: BoundFormula | StatedFormula
    enough: Evidence | None
    """The evidence that the formula is enough."""
    witness: Evidence
    """The evidence that nothing less is enough."""
    explored: int
    """The number of explored instances."""
    linear: Polynomial | None = None
    """The smallest linear formula that is nowhere smaller than the formula."""
    linear_enough: Evidence | None = None
    linear_attained: int = 0
    """The number of explored instances in which the linear formula equals the measurement."""

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
        """What is known for all parameters.  In the explored instances, nothing less than the formula is enough."""
        if self.enough is not None and self.witness.scope == ALL_PARAMETERS:
            return "exact"
        if self.upper_bound is not None:
            return f"upper bound, attained in {self.attained} instances"
        return "lower bound" if self.witness.scope == ALL_PARAMETERS else f"measured in {self.explored} instances"

    @property
    def upper_bound(self) -> BoundFormula | StatedFormula | Polynomial | None:
        """The formula that is proved to be enough for all parameters: the exact one, or else the linear one."""
        if self.enough is not None:
            return self.formula
        return None if self.linear_enough is None else self.linear

    @property
    def attained(self) -> int:
        """The number of explored instances that need the upper bound, or the formula if no upper bound is proved."""
        return self.explored if self.enough is not None or self.linear_enough is None else self.linear_attained

    @property
    def proof(self) -> Evidence | None:
        """The evidence for the upper bound."""
        return self.enough or self.linear_enough

    @property
    def cases(self) -> tuple[FormulaCase, ...]:
        return self.formula.cases

    @property
    def proved(self) -> bool:
        return self.upper_bound is not None
