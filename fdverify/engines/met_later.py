"""Search for a run to a state in which a condition holds, by the solver and at arbitrary parameters."""

from __future__ import annotations

from collections.abc import Callable

from fdverify.engines import exact
from fdverify.engines.bmc import Search
from fdverify.engines.inductive import Invariant
from fdverify.logic import Truth
from fdverify.models.system import State
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run, replay

_MOST_ROUNDS = 12


def find_run_to(invariant: Invariant, holds: Callable[[State], Truth]) -> Run | None:
    """Find a short run whose replay ends where the condition holds; skip the search if the invariant excludes it."""
    anywhere = Unrolling(invariant.system, anywhere=True)
    state = anywhere.states[0]
    inside = [truth(conjunct.holds(state)) for conjunct in invariant.hypotheses()]
    if exact.ask(anywhere, FreshSolver(), *inside, truth(holds(state))).status == "unsat":
        return None
    search = Search(invariant.system)
    for length in range(_MOST_ROUNDS + 1):
        if length > 0:
            search.extend()
        wanted = holds(search.state)
        answer = search.ask(wanted)
        if answer.status == "unknown":
            return None
        if answer.status == "sat":
            run = search.run(wanted, answer)
            return run if holds(replay(invariant.system, run).last) else None
        search.exclude(wanted)
    return None
