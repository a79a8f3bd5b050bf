"""Dead ends: states without a next round.

A run that ends in one satisfies every claim about later states, so a proof has to exclude them.
"""

from __future__ import annotations

from collections.abc import Callable

from fdverify.engines import exact
from fdverify.engines.bmc import Search
from fdverify.engines.parameters import smallest_state
from fdverify.logic import Truth
from fdverify.models.interpret import first_round
from fdverify.models.system import State, System
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.progress import Plan, alike, first_plans, stuck
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run, replay, rounds
from fdverify.verdict import Verdict

_MOST_PLANS = 200


def dead_end(system: System, holds: Callable[[State], Truth], depth: int) -> tuple[Verdict, str, Run | None]:
    """Prove that every state that satisfies the claim has a next round, or find a dead end within ``depth`` rounds."""
    anywhere = Unrolling(system, anywhere=True)
    state = anywhere.states[0]
    plans: list[Plan] = first_plans(system)
    claim = truth(holds(state))
    solver = FreshSolver()
    while len(plans) < _MOST_PLANS:
        question = truth(stuck(system, state, plans))
        answer = exact.ask(anywhere, solver, claim, question)
        if answer.status == "unsat":
            return Verdict.PROVED, "", None
        if answer.status == "unknown":
            return Verdict.UNKNOWN, f"the solver gave up on whether every state has a next round: {answer.reason}", None
        plan = first_round(*smallest_state(anywhere, solver, answer, claim, question))
        if plan is None:
            return _reachable(system, plans, depth)
        plans += alike(system, plan)
    return Verdict.UNKNOWN, "cannot show that every state has a next round", None


def _reachable(system: System, plans: list[Plan], depth: int) -> tuple[Verdict, str, Run | None]:
    """Search for a run to a dead end that none of the plans leads out of."""
    search = Search(system)
    for length in range(depth + 1):
        if length > 0:
            search.extend()
        bad = stuck(system, search.state, plans)
        answer = search.ask(bad)
        if answer.status == "sat":
            run = search.run(bad, answer)
            trace = replay(system, run)
            if first_round(trace.system, trace.last) is None:
                return Verdict.VACUOUS, f"a dead end: no round is possible after these {rounds(length)}", run
    return (
        Verdict.UNKNOWN,
        f"a state that satisfies the claim has no next round; none was reached within {rounds(depth)}",
        None,
    )
