"""Proof that no timeout is long enough: the choices of one run violate the property with every longer timeout too."""

from __future__ import annotations

from fdverify.logic import And, Implies, Not, Symbolic, Truth
from fdverify.models.system import Property, System
from fdverify.runs.run import Run
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.next_round import run_planned_round
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth

_LONGEST_RUN = 32
"""In rounds: a run that grows with the timeout does not serve for all timeouts, and terms grow with the run."""


def is_violated_at_every_longer_timeout(system: System, claim: Property, run: Run, least: int) -> bool:
    """Return whether the choices of a run lead to a violation with every initial timeout from ``least`` on.

    The initial timeout must be the only arbitrary parameter of the system.
    """
    (initial,) = system.list_arbitrary()
    if len(run.rounds) > _LONGEST_RUN:
        return False
    unrolling = Unrolling(system)
    state, allowed = unrolling.states[0], list[Truth]()
    for choices in run.rounds:
        state, possible = run_planned_round(system, state, choices)
        allowed.append(possible)
    broken = And(*allowed, Not(claim.holds(state)))
    question = Not(Implies(state[initial] >= least, broken))
    if not isinstance(question, Symbolic):
        return not question
    solver = FreshSolver()
    solver.add(unrolling.take_new_facts())
    return solver.ask(lift_truth(question)).status == "unsat"
