"""Threshold automata: locations, parameters, shared variables that only grow, and guarded rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fdverify.errors import UsageError
from fdverify.logic import shorten_value
from fdverify.threshold.automaton_names import check_name, check_names
from fdverify.threshold.ltl_formula import Formula, collect_formula_names


@dataclass(frozen=True)
class Location:
    """A local state of a process, with the values of its local variables."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """A guarded move of one process between two locations, which may increase shared variables."""

    number: int
    source: str
    target: str
    guard: Formula
    adds: tuple[tuple[str, int], ...]
    """The shared variables that grow, sorted by name, each with its increment."""

    def get_increments(self) -> Mapping[str, int]:
        return dict(self.adds)


@dataclass(frozen=True)
class UnderApproximation:
    """An under-approximation of the runs that violate a specification: an extended automaton with its own formula.

    Each of its rules is a copy of an original rule, or internal.  A run that violates the formula becomes a violation
    of the specification when each copy is replaced by its original and internal rules are dropped.
    """

    formula: Formula
    shared: tuple[str, ...]
    locations: tuple[Location, ...]
    rules: tuple[Rule, ...]
    initial: tuple[Formula, ...]
    """Initial constraints on the additional locations and shared variables."""
    originals: tuple[int | None, ...]
    """For each rule, the index of the original rule that it copies, or None if the rule is internal."""
    refusal: str
    """Why the specification is refused if it is not proved and this approximation has no violation."""

    def extend(self, automaton: Automaton) -> Automaton:
        return replace(
            automaton,
            shared=(*automaton.shared, *self.shared),
            locations=(*automaton.locations, *self.locations),
            initial=(*automaton.initial, *self.initial),
            rules=self.rules,
            specifications=(),
        )


@dataclass(frozen=True)
class Specification:
    """A named temporal formula.

    Every violation of the specification violates the formula.  Without an under-approximation the converse holds too.
    """

    name: str
    formula: Formula
    under_approximation: UnderApproximation | None = None


@dataclass(frozen=True)
class Automaton:
    """A threshold automaton; ``assumptions`` is its resilience condition, ``initial`` its initial constraint.

    In formulas the name of a location stands for the number of processes in it.
    """

    name: str
    local: tuple[str, ...]
    shared: tuple[str, ...]
    parameters: tuple[str, ...]
    unknowns: tuple[str, ...]
    assumptions: tuple[Formula, ...]
    locations: tuple[Location, ...]
    initial: tuple[Formula, ...]
    rules: tuple[Rule, ...]
    specifications: tuple[Specification, ...]

    fixed: tuple[tuple[str, int], ...] = ()
    """Parameters that were given a value, which ``assumptions`` also states."""
    assumed: bool = False
    """Whether the user has replaced the resilience condition."""

    def __post_init__(self) -> None:
        """Refuse names that are undeclared, declared twice or reserved, and numbers out of range."""
        check_name("a threshold automaton", self.name, "threshold automaton")
        check_names(
            self.name,
            (
                ("local variable", self.local),
                ("shared variable", self.shared),
                ("parameter", (*self.parameters, *self.unknowns)),
                ("location", [location.name for location in self.locations]),
            ),
        )
        check_names(self.name, [("specification", [specification.name for specification in self.specifications])])
        parameters = {*self.parameters, *self.unknowns}
        locations = {location.name for location in self.locations}
        shared = set(self.shared)
        for location in self.locations:
            if len(location.values) != len(self.local) or any(value < 0 for value in location.values):
                raise UsageError(f"{self.name}: {location.name} must have one natural number for each local variable")
        for rule in self.rules:
            place = f"{self.name}: rule {rule.number}"
            self._refuse_unknown_names(place, {rule.source, rule.target}, locations, "location")
            self._refuse_unknown_names(place, set(rule.get_increments()), shared, "shared variable")
            self._refuse_unknown_names(
                place, collect_formula_names(rule.guard), parameters | shared, "shared variable or parameter"
            )
            if list(rule.adds) != sorted(rule.get_increments().items()) or any(growth < 1 for _, growth in rule.adds):
                raise UsageError(f"{place}: increments must be positive, one for each variable, sorted by name")
            if rule.number < 0:
                raise UsageError(f"{place}: the number of a rule must be at least 0")
        for claim in self.assumptions:
            self._refuse_unknown_names(
                f"{self.name}: the resilience condition", collect_formula_names(claim), parameters, "parameter"
            )
        everything = parameters | shared | locations
        for formula in (*self.initial, *(each.formula for each in self.specifications)):
            self._refuse_unknown_names(
                self.name, collect_formula_names(formula), everything, "location, shared variable or parameter"
            )

    def _refuse_unknown_names(self, place: str, used: set[str], known: set[str], kind: str) -> None:
        for name in sorted(used - known):
            raise UsageError(f"{place}: there is no {kind} {shorten_value(name)}")
