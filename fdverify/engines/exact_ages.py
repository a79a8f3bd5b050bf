"""Solver answers that are exact for all message ages.

If Δ is symbolic, claims about ages are instantiated at some ages only, so ``sat`` is a candidate.  The question is then
asked again with Δ bounded and all ages up to the bound instantiated.  Such an answer is exact, and its Δ is small.
"""

from __future__ import annotations

from typing import Any

from fdverify.logic import Number
from fdverify.smt.solver import Solver, SolverAnswer
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth

_BOUNDS = (0, 1, 3, 7, 15, 31, 63)


def ask_exactly(unrolling: Unrolling, solver: Solver, *question: Any) -> SolverAnswer:
    """Ask whether the conjunction of these formulas over the unrolling is satisfiable."""
    solver.add(unrolling.take_new_facts())
    answer = solver.ask(*question)
    if answer.status != "sat" or not unrolling.closure.has_claims:
        return answer
    deltas: list[Number] = [unrolling.parameters[name] for name in unrolling.system.list_age_bounds()]
    instantiated = -1
    for bound in _BOUNDS:
        for age in range(instantiated + 1, bound + 1):
            unrolling.closure.choose_age(age)
        instantiated = bound
        solver.add(unrolling.take_new_facts())
        bounded = [lift_truth(delta <= bound) for delta in deltas]
        answer = solver.ask(*question, *bounded)
        if answer.status != "unsat":
            return answer
    return SolverAnswer("unknown", reason=f"there may be a case with a message age above {_BOUNDS[-1]}")
