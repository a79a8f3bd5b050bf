"""Automata with some parameters fixed, or with another resilience condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import z3

from fdverify.errors import UsageError
from fdverify.smt.solver import FreshSolver
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.ltl_formula import Formula, LinearComparison, LinearExpression
from fdverify.threshold.runs.z3_terms import encode_formula
from fdverify.threshold.text.write import format_formula


def fix_parameters(automaton: Automaton, values: Mapping[str, int]) -> Automaton:
    """Fix some parameters of an automaton; refuse names it does not have and values that are not admissible."""
    known = (*automaton.parameters, *automaton.unknowns)
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{automaton.name} has no parameter {name}", f"there are {', '.join(known)}")
        if value < 0:
            raise UsageError(f"{name} must be at least 0, got {value}")
    fixed = tuple(
        LinearComparison(LinearExpression.from_factors({name: 1}), "==", LinearExpression(constant=value))
        for name, value in values.items()
    )
    instance = replace(
        automaton, assumptions=(*automaton.assumptions, *fixed), fixed=(*automaton.fixed, *values.items())
    )
    if _is_admissible(automaton) and not _is_admissible(instance):
        shown = ", ".join(f"{name} = {value}" for name, value in values.items())
        condition = " && ".join(format_formula(claim) for claim in automaton.assumptions)
        raise UsageError(f"{shown} is not admissible: {automaton.name} assumes {condition}")
    return instance


def replace_assumptions(automaton: Automaton, claims: Sequence[Formula]) -> Automaton:
    """Replace the resilience condition of an automaton."""
    return replace(automaton, assumptions=tuple(claims), assumed=True)


def describe_parameters(automaton: Automaton, every: str = "all") -> str:
    """Describe the parameters that a verdict is about; return an empty text if the automaton has none."""
    fixed = dict(automaton.fixed)
    others = [name for name in (*automaton.parameters, *automaton.unknowns) if name not in fixed]
    shown = ", ".join(f"{name} = {value}" for name, value in fixed.items())
    if not others:
        return f"for {shown}" if shown else ""
    condition = ""
    if automaton.assumed:
        claims = automaton.assumptions[: len(automaton.assumptions) - len(fixed)]
        condition = " with " + (" && ".join(format_formula(claim) for claim in claims) or "no condition")
    if fixed:
        return f"for {shown} and {every} {'' if automaton.assumed else 'admissible '}{', '.join(others)}{condition}"
    return f"for {every} parameters{condition}" if automaton.assumed else f"for {every} admissible parameters"


def _is_admissible(automaton: Automaton) -> bool:
    """Return whether the resilience condition is satisfiable; if the solver gives up, assume that it is."""
    parameters = {name: z3.Int(name) for name in (*automaton.parameters, *automaton.unknowns)}
    solver = FreshSolver()
    solver.add([value >= 0 for value in parameters.values()])
    return solver.ask(*(encode_formula(claim, parameters) for claim in automaton.assumptions)).status != "unsat"
