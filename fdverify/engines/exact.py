"""Answers that are right about all ages.

For a symbolic Δ, claims about ages are spelled out at some ages only, so ``sat`` is a candidate.  It is looked for once
more with Δ bounded and all ages up to the bound spelled out: then it is exact, and it has a small Δ.
"""

from __future__ import annotations

from typing import Any

from fdverify.logic import Number
from fdverify.smt.solver import Answer, Solver
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth

_BOUNDS = (0, 1, 3, 7, 15, 31, 63)


def ask(unrolling: Unrolling, solver: Solver, *question: Any) -> Answer:
    """Can the question, built in this unrolling, hold?"""
    solver.add(unrolling.new_facts())
    answer = solver.ask(*question)
    if answer.status != "sat" or not unrolling.closure.has_claims:
        return answer
    deltas: list[Number] = [unrolling.parameters[name] for name in unrolling.system.age_bounds()]
    spelled = -1
    for bound in _BOUNDS:
        for age in range(spelled + 1, bound + 1):
            unrolling.closure.choose(age)
        spelled = bound
        solver.add(unrolling.new_facts())
        bounded = [truth(delta <= bound) for delta in deltas]
        answer = solver.ask(*question, *bounded)
        if answer.status != "unsat":
            return answer
    return Answer("unknown", reason=f"there may be a case with a message age above {_BOUNDS[-1]}")
