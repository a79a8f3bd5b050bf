"""An automaton for certain parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import z3

from fdverify.errors import UsageError
from fdverify.smt.solver import FreshSolver
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.formula import Comparison, Linear
from fdverify.threshold.runs.terms import truth
from fdverify.threshold.text.write import formula_text


def with_parameters(automaton: Automaton, values: Mapping[str, int]) -> Automaton:
    """The same automaton for certain parameters, which must exist and be admissible."""
    known = (*automaton.parameters, *automaton.unknowns)
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{automaton.name} has no parameter {name}", f"there are {', '.join(known)}")
        if value < 0:
            raise UsageError(f"{name} must be at least 0, got {value}")
    fixed = tuple(Comparison(Linear.of({name: 1}), "==", Linear(constant=value)) for name, value in values.items())
    found = replace(automaton, assumptions=(*automaton.assumptions, *fixed))
    if _is_admissible(automaton) and not _is_admissible(found):
        shown = ", ".join(f"{name} = {value}" for name, value in values.items())
        condition = " && ".join(formula_text(claim) for claim in automaton.assumptions)
        raise UsageError(f"{shown} is not admissible: {automaton.name} assumes {condition}")
    return found


def _is_admissible(automaton: Automaton) -> bool:
    """Whether some parameters satisfy the resilience condition; if that is unknown, checking will tell."""
    parameters = {name: z3.Int(name) for name in (*automaton.parameters, *automaton.unknowns)}
    solver = FreshSolver()
    solver.add([value >= 0 for value in parameters.values()])
    return solver.ask(*(truth(claim, parameters) for claim in automaton.assumptions)).status != "unsat"
