"""Shared variables that cannot grow without an end."""

from __future__ import annotations

from typing import Any

import networkx as nx
import z3

from fdverify.errors import UsageError
from fdverify.smt.solver import FreshSolver
from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.claims.thresholds import made_of_thresholds, thresholds
from fdverify.threshold.runs.terms import is_reached, truth


def refuse_unbounded(automaton: Automaton) -> None:
    """Refuse a rule that processes can take again and again to count without an end."""
    graph: Any = nx.DiGraph([(rule.source, rule.target) for rule in automaton.rules])
    circles = [component for component in nx.strongly_connected_components(graph) if len(component) > 1]
    for rule in automaton.rules:
        on_circle = rule.source == rule.target or any({rule.source, rule.target} <= each for each in circles)
        if rule.adds and on_circle and not _is_bounded(automaton, rule):
            raise UsageError(
                f"{automaton.name}: rule {rule.number} is on a cycle and counts without a bound",
                "guard it by x < … for a variable that it adds to",
            )


def _is_bounded(automaton: Automaton, rule: Rule) -> bool:
    """Whether its guard is false once all thresholds that it counts towards have been reached."""
    values = {name: z3.Int(name) for name in (*automaton.shared, *automaton.parameters, *automaton.unknowns)}
    guards = [made_of_thresholds(automaton, each.guard) for each in automaton.rules]
    reached = [
        is_reached(each, values) for each in thresholds(automaton, guards) if each.reached.names() & set(rule.added())
    ]
    solver = FreshSolver()
    solver.add([value >= 0 for value in values.values()])
    return solver.ask(truth(rule.guard, values), *reached).status == "unsat"
