"""Threshold automata: locations, shared variables that only grow, parameters, and rules under guards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fdverify.errors import UsageError
from fdverify.logic import shortened
from fdverify.threshold.formula import Formula, names
from fdverify.threshold.names import check_name, check_names


@dataclass(frozen=True)
class Location:
    """Where a process can be, with the values of its local variables there."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """A process goes from one location to another where the guard holds, and adds to shared variables."""

    number: int
    source: str
    target: str
    guard: Formula
    adds: tuple[tuple[str, int], ...]
    """The shared variables that grow, and by how much."""

    def added(self) -> Mapping[str, int]:
        return dict(self.adds)


@dataclass(frozen=True)
class Certain:
    """An automaton with more locations and rules, each a twin of another rule, and a formula of its own.

    Whatever run of it breaks the formula breaks the specification, if each twin is taken for the rule it is a twin of.
    """

    formula: Formula
    shared: tuple[str, ...]
    locations: tuple[Location, ...]
    rules: tuple[Rule, ...]
    initial: tuple[Formula, ...]
    """Of what there is more."""
    twins: tuple[int | None, ...]
    """Of each rule, the place of the rule that it stands for; none if nothing happens that others can see."""
    otherwise: str
    """Why more than that is not known."""

    def extended(self, automaton: Automaton) -> Automaton:
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
    """What breaks the specification breaks its formula.  The converse holds, too, unless something else is certain."""

    name: str
    formula: Formula
    certain: Certain | None = None


@dataclass(frozen=True)
class Automaton:
    """``assumptions`` are the resilience condition; ``initial`` says where processes and variables start.

    In formulas the name of a location stands for the number of processes there.
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
    """The parameters that have certain values."""
    assumed: bool = False
    """Whether the resilience condition is another one than the author's."""

    def __post_init__(self) -> None:
        """Refuse names that two things have or nothing has, or that solvers and texts would take for something else."""
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
        check_names(self.name, [("specification", [each.name for each in self.specifications])])
        parameters = {*self.parameters, *self.unknowns}
        locations = {location.name for location in self.locations}
        shared = set(self.shared)
        for location in self.locations:
            if len(location.values) != len(self.local) or any(value < 0 for value in location.values):
                raise UsageError(f"{self.name}: {location.name} has no natural number for each local variable, or more")
        for rule in self.rules:
            place = f"{self.name}: rule {rule.number}"
            self._check(place, {rule.source, rule.target}, locations, "location")
            self._check(place, set(rule.added()), shared, "shared variable")
            self._check(place, names(rule.guard), parameters | shared, "shared variable or parameter")
            if list(rule.adds) != sorted(rule.added().items()) or any(growth < 1 for _, growth in rule.adds):
                raise UsageError(f"{place}: shared variables only grow, each once, in the order of their names")
            if rule.number < 0:
                raise UsageError(f"{place}: a rule has a natural number")
        for claim in self.assumptions:
            self._check(f"{self.name}: the resilience condition", names(claim), parameters, "parameter")
        everything = parameters | shared | locations
        for formula in (*self.initial, *(each.formula for each in self.specifications)):
            self._check(self.name, names(formula), everything, "location, shared variable or parameter")

    def _check(self, place: str, used: set[str], known: set[str], kind: str) -> None:
        for name in sorted(used - known):
            raise UsageError(f"{place}: there is no {kind} {shortened(name)}")
