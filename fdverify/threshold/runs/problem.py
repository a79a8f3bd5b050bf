"""A question about an automaton: is there a run of a certain shape?"""

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
    """With rules that have an effect only, each once, and guards made of thresholds."""
    shape: Shape
    lasting: tuple[tuple[Lasting, ...], ...]
    """Of each moment of the shape, what holds from it on."""
    in_loops: tuple[Lasting, ...]
    """What holds in the end, as far as a loop must keep to it."""
    thresholds: dict[Threshold, set[str]]
    comes_back: bool
    """Whether a process can come back to a location."""
    counts_on_cycles: bool
    """Whether it can count on the way."""
    turns: tuple[Rule, ...]
    """The rules that a run can take for ever."""
    most_processes: int | None
    """How many processes there may be, if not any number."""

    @property
    def needs_loop(self) -> bool:
        """Whether a run may have to move for ever; else it can stay where all that it does again and again is so."""
        return len(self.shape.again) > 1 and bool(self.turns)

    @property
    def inhabited(self) -> list[frozenset[str]]:
        """The sets of locations of which some is never empty."""
        claims = [claim for each in (*self.lasting, self.in_loops) for claim in each]
        return list(dict.fromkeys(some for claim in claims for some in claim.inhabited if some))


def problem(automaton: Automaton, name: str, shape: Shape, most_processes: int | None = None) -> Problem:
    """The question for one shape of a specification's negation; what cannot be decided is refused."""
    rules = _effective(automaton)
    prepared = replace(automaton, rules=rules)
    turns = tuple(_on_cycles(rule for rule in rules if not rule.adds))
    moments = tuple(_lasting(prepared, name, moment.for_good) for moment in shape.moments)
    in_loops = _lasting(prepared, name, shape.at_last) if len(shape.again) > 1 and turns else ()
    unless = [claim.unless for claims in (*moments, in_loops) for claim in claims]
    found = thresholds(prepared, (rule.guard for rule in rules))
    for threshold in thresholds(prepared, unless):
        found.setdefault(threshold, set()).add("unless")
    circling = _on_cycles(rules)
    counts = any(rule.adds for rule in circling)
    return Problem(prepared, shape, moments, in_loops, found, bool(circling), counts, turns, most_processes)


def _lasting(automaton: Automaton, name: str, formulas: Iterable[Formula]) -> tuple[Lasting, ...]:
    return tuple(claim for formula in formulas for claim in lasting(automaton, name, formula))


def _effective(automaton: Automaton) -> tuple[Rule, ...]:
    """The rules that change something; of those that do the same under the same guard, the first."""
    found: dict[object, Rule] = {}
    for rule in automaton.rules:
        if rule.source != rule.target or rule.adds:
            guarded = replace(rule, guard=made_of_thresholds(automaton, rule.guard))
            found.setdefault((rule.source, rule.target, guarded.guard, rule.adds), guarded)
    return tuple(found.values())


def _on_cycles(rules: Iterable[Rule]) -> list[Rule]:
    """The rules that lie on a cycle of such rules."""
    moves = list(rules)
    graph: Any = nx.DiGraph([(rule.source, rule.target) for rule in moves])
    component = {place: at for at, places in enumerate(nx.strongly_connected_components(graph)) for place in places}
    return [rule for rule in moves if component[rule.source] == component[rule.target]]
