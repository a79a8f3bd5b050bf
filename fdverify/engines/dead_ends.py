"""Dead ends: states without a next round.

A run that ends in one satisfies every claim about later states, so a proof has to exclude them.
"""

from __future__ import annotations

from collections.abc import Callable

from fdverify.engines import exact_ages
from fdverify.engines.bmc import BoundedSearch
from fdverify.engines.instances import find_smallest_state
from fdverify.logic import And, Truth
from fdverify.models.system import State, System
from fdverify.runs.concrete_interpreter import find_first_round
from fdverify.runs.run import Run, format_rounds, replay_run
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.next_round import Plan, is_stuck, list_failures, list_first_plans, list_similar_plans
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import Verdict

_MOST_PLANS = 200


def check_no_dead_end(system: System, holds: Callable[[State], Truth], depth: int) -> tuple[Verdict, str, Run | None]:
    """Prove that every state that satisfies the claim has a next round, or find a dead end within ``depth`` rounds."""
    anywhere = Unrolling(system, anywhere=True)
    state = anywhere.states[0]
    plans: list[Plan] = list_first_plans(system)
    claim = lift_truth(holds(state))
    failures = list_failures(system, state, plans[:1])
    solver = FreshSolver()
    solver.add(anywhere.take_new_facts())
    if solver.ask(claim, lift_truth(And(*failures))).status == "unsat":
        return Verdict.PROVED, "", None  # the first plan often suffices, and building the others takes longer
    while len(plans) < _MOST_PLANS:
        failures += list_failures(system, state, plans[len(failures) :])
        question = lift_truth(And(*failures))
        answer = exact_ages.ask_exactly(anywhere, solver, claim, question)
        if answer.status == "unsat":
            return Verdict.PROVED, "", None
        if answer.status == "unknown":
            return Verdict.UNKNOWN, f"the solver gave up on whether every state has a next round: {answer.reason}", None
        plan = find_first_round(*find_smallest_state(anywhere, solver, answer, claim, question))
        if plan is None:
            return _search_reachable_dead_end(system, plans, depth)
        plans += list_similar_plans(system, plan)
    return Verdict.UNKNOWN, "cannot show that every state has a next round", None


def _search_reachable_dead_end(system: System, plans: list[Plan], depth: int) -> tuple[Verdict, str, Run | None]:
    """Search for a run to a dead end that none of the plans leads out of."""
    search = BoundedSearch(system)
    for length in range(depth + 1):
        if length > 0:
            search.extend()
        bad = is_stuck(system, search.state, plans)
        answer = search.ask(bad)
        if answer.status == "sat":
            run = search.find_smallest_run(bad, answer)
            trace = replay_run(system, run)
            if find_first_round(trace.system, trace.last) is None:
                return Verdict.VACUOUS, f"a dead end: no round is possible after these {format_rounds(length)}", run
    return (
        Verdict.UNKNOWN,
        f"a state that satisfies the claim has no next round; none was reached within {format_rounds(depth)}",
        None,
    )
