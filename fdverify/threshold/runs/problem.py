"""The problem that drivers solve: does an automaton have a run of a given shape?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx

from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.claims.lasting import Lasting, lasting
from fdverify.threshold.claims.shapes import Shape
from fdverify.threshold.claims.thresholds import Threshold, made_of_thresholds, thresholds
from fdverify.threshold.formula import Formula


@dataclass(frozen=True)
class Problem:
    automaton: Automaton
    """The automaton without ineffective and duplicate rules, its guards expressed in thresholds."""
    shape: Shape
    lasting: tuple[tuple[Lasting, ...], ...]
    """For each moment of the shape, the claims that hold from it on."""
    in_loops: tuple[Lasting, ...]
    """The eventually-always claims, if the run may need a loop that has to preserve them."""
    thresholds: dict[Threshold, set[str]]
    comes_back: bool
    """Whether the rules have a cycle, so that a process can return to a location."""
    counts_on_cycles: bool
    """Whether a rule on a cycle increases a shared variable."""
    turns: tuple[Rule, ...]
    """The rules that can be taken for ever: those on cycles that increase nothing."""
    most_processes: int | None
    """The maximal number of processes, or None for no limit."""

    @property
    def needs_loop(self) -> bool:
        """Whether a run may have to move for ever; if not, it can stay where all infinitely-often claims hold."""
        return len(self.shape.again) > 1 and bool(self.turns)

    @property
    def inhabited(self) -> list[frozenset[str]]:
        """The sets of locations that must stay inhabited."""
        claims = [claim for group in (*self.lasting, self.in_loops) for claim in group]
        return list(dict.fromkeys(locations for claim in claims for locations in claim.inhabited if locations))


def problem(automaton: Automaton, name: str, shape: Shape, most_processes: int | None = None) -> Problem:
    """Build the problem for one shape; refuse claims and guards that are not supported."""
    rules = _effective(automaton)
    prepared = replace(automaton, rules=rules)
    turns = tuple(_on_cycles(rule for rule in rules if not rule.adds))
    moments = tuple(_lasting(prepared, name, moment.for_good) for moment in shape.moments)
    in_loops = _lasting(prepared, name, shape.at_last) if len(shape.again) > 1 and turns else ()
    unless = [claim.unless for claims in (*moments, in_loops) for claim in claims]
    operators = thresholds(prepared, (rule.guard for rule in rules))
    for threshold in thresholds(prepared, unless):
        operators.setdefault(threshold, set()).add("unless")
    cyclic = _on_cycles(rules)
    counts = any(rule.adds for rule in cyclic)
    return Problem(prepared, shape, moments, in_loops, operators, bool(cyclic), counts, turns, most_processes)


def _lasting(automaton: Automaton, name: str, formulas: Iterable[Formula]) -> tuple[Lasting, ...]:
    return tuple(claim for formula in formulas for claim in lasting(automaton, name, formula))


def _effective(automaton: Automaton) -> tuple[Rule, ...]:
    """List the rules that change something, without duplicates, and rewrite their guards in thresholds."""
    effective: dict[object, Rule] = {}
    for rule in automaton.rules:
        if rule.source != rule.target or rule.adds:
            guarded = replace(rule, guard=made_of_thresholds(automaton, rule.guard))
            effective.setdefault((rule.source, rule.target, guarded.guard, rule.adds), guarded)
    return tuple(effective.values())


def _on_cycles(rules: Iterable[Rule]) -> list[Rule]:
    """List the rules that lie on a cycle of the given rules."""
    moves = list(rules)
    graph: Any = nx.DiGraph([(rule.source, rule.target) for rule in moves])
    component = {
        location: index
        for index, locations in enumerate(nx.strongly_connected_components(graph))
        for location in locations
    }
    return [rule for rule in moves if component[rule.source] == component[rule.target]]
