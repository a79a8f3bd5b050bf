"""That no timeout is long enough: a run whose choices break the property with every longer one as well."""

from __future__ import annotations

from fdverify.logic import And, Implies, Not, Symbolic, Truth
from fdverify.models.system import Property, System
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.progress import planned_round
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run

_LONGEST_RUN = 32
"""In rounds: a run that grows with the timeout is not one for all of them, and terms grow with the run."""


def breaks_at_every_longer(system: System, claim: Property, run: Run, least: int) -> bool:
    """Whether the choices of a run lead to a violation with every initial timeout from ``least`` on.

    The system has an arbitrary initial timeout and is fixed otherwise.
    """
    (initial,) = system.arbitrary()
    if len(run.rounds) > _LONGEST_RUN:
        return False
    unrolling = Unrolling(system)
    state, allowed = unrolling.states[0], list[Truth]()
    for made in run.rounds:
        state, possible = planned_round(system, state, made)
        allowed.append(possible)
    broken = And(*allowed, Not(claim.holds(state)))
    question = Not(Implies(state[initial] >= least, broken))
    if not isinstance(question, Symbolic):
        return not question
    solver = FreshSolver()
    solver.add(unrolling.new_facts())
    return solver.ask(truth(question)).status == "unsat"
