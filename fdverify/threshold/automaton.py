"""Threshold automata: locations, shared variables that only grow, parameters, and rules under guards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.logic import shortened
from fdverify.threshold.formula import Formula


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
class Specification:
    name: str
    formula: Formula


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

    def __post_init__(self) -> None:
        """Refuse names that two things have, or that solvers and texts would take for something else."""
        places = [location.name for location in self.locations]
        seen: set[str] = set()
        for name in (*self.local, *self.shared, *self.parameters, *self.unknowns, *places):
            if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
                raise UsageError(f"{self.name}: {shortened(name)!r} cannot be a name")
            if name in seen:
                raise UsageError(f"{self.name}: {shortened(name)} is declared twice")
            seen.add(name)
