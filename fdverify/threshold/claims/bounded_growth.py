"""A check that no cycle of rules can increase a shared variable without bound."""

from __future__ import annotations

import z3

from fdverify.errors import UsageError
from fdverify.smt.solver import FreshSolver
from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.claims.thresholds import collect_thresholds, rewrite_in_thresholds
from fdverify.threshold.cycles import select_edges_on_cycles
from fdverify.threshold.runs.z3_terms import encode_formula, encode_reached


def refuse_unbounded_growth(automaton: Automaton) -> None:
    """Refuse a rule on a cycle that increases a shared variable and has no bounding guard."""
    for rule in select_edges_on_cycles(automaton.rules):
        if rule.adds and not _is_bounded(automaton, rule):
            raise UsageError(
                f"{automaton.name}: rule {rule.number} is on a cycle and counts without a bound",
                "guard it by x < … for a variable that it adds to",
            )


def _is_bounded(automaton: Automaton, rule: Rule) -> bool:
    """Return whether the guard is false once all thresholds over the variables that the rule increases are reached."""
    values = {name: z3.Int(name) for name in (*automaton.shared, *automaton.parameters, *automaton.unknowns)}
    guards = [rewrite_in_thresholds(automaton, other.guard) for other in automaton.rules]
    reached = [
        encode_reached(threshold, values)
        for threshold in collect_thresholds(automaton, guards)
        if threshold.reached.collect_names() & set(rule.get_increments())
    ]
    solver = FreshSolver()
    solver.add([value >= 0 for value in values.values()])
    return solver.ask(encode_formula(rule.guard, values), *reached).status == "unsat"
