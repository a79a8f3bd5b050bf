"""Threshold automata: locations, shared variables that only grow, parameters, and rules under guards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
