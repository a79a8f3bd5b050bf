"""Search for a run to a state in which a condition holds, by the solver and at arbitrary parameters."""

from __future__ import annotations

from collections.abc import Callable

from fdverify.engines import exact_ages
from fdverify.engines.bmc import BoundedSearch
from fdverify.logic import Truth
from fdverify.models.system import State
from fdverify.obligations.inductive import Invariant
from fdverify.runs.run import Run, replay_run
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth

_MOST_ROUNDS = 12


def find_run_to(invariant: Invariant, holds: Callable[[State], Truth]) -> Run | None:
    """Find a short run whose replay ends where the condition holds; skip the search if the invariant excludes it."""
    anywhere = Unrolling(invariant.system, anywhere=True)
    state = anywhere.states[0]
    inside = [lift_truth(conjunct.holds(state)) for conjunct in invariant.list_hypotheses()]
    if exact_ages.ask_exactly(anywhere, FreshSolver(), *inside, lift_truth(holds(state))).status == "unsat":
        return None
    search = BoundedSearch(invariant.system)
    for length in range(_MOST_ROUNDS + 1):
        if length > 0:
            search.extend()
        wanted = holds(search.state)
        answer = search.ask(wanted)
        if answer.status == "unknown":
            return None
        if answer.status == "sat":
            run = search.find_smallest_run(wanted, answer)
            return run if holds(replay_run(invariant.system, run).last) else None
        search.exclude(wanted)
    return None
