"""Worst runs: that a plan leads to a state in which a claim is false, whatever the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter

from fdverify.engines import exact
from fdverify.engines.parameters import smallest_state, unsatisfiable
from fdverify.engines.plans import in_words, interpreted_round, plan_in, well_formed
from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, Implies, Not, Or, Truth
from fdverify.models.interpret import Made, initial_state
from fdverify.models.system import Property, State, System
from fdverify.models.worst_run import WorstRun
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.progress import planned_round
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run, confirmed
from fdverify.verdict import Obligation, Verdict


def attained(system: System, claim: Property, worst: WorstRun) -> list[Obligation]:
    """What makes the plan lead to a violation, each part proved or unknown; a plan that is wrong is refused."""
    nowhere = unsatisfiable(system)
    if nowhere is not None:
        return [Obligation("there are such parameters", "worst-run", nowhere[0], 0.0, nowhere[1])]
    start = Unrolling(system)
    obligations = _decided(start, [("the run begins", worst.within(start.states[0]))])
    anywhere = Unrolling(system, anywhere=True)
    anywhere.closure.reach_further(1)  # a round is built on its first state, in which messages grow older by one
    return [*obligations, *_decided(anywhere, _demands(system, claim, worst, anywhere.states[0]))]


def _demands(system: System, claim: Property, worst: WorstRun, before: State) -> Iterator[tuple[str, Truth]]:
    """What must be so in every state, so that a run that is under way comes to an end, which is a violation."""
    after, allowed = planned_round(system, before, plan_in(system, worst.plan, before))
    under_way = And(well_formed(system, before), worst.within(before), claim.holds(before))
    falls = And(worst.left(after) >= 0, worst.left(after) < worst.left(before))
    goes_on = And(well_formed(system, after), worst.within(after), falls)
    yield "each round is allowed", Implies(under_way, allowed)
    yield f"{claim.name} is false in the end", Implies(under_way, Or(Not(claim.holds(after)), goes_on))


def _decided(unrolling: Unrolling, demands: Iterable[tuple[str, Truth]]) -> list[Obligation]:
    solver, decided = FreshSolver(), list[Obligation]()
    for name, demand in demands:
        start = perf_counter()
        question = truth(Not(demand))
        answer = exact.ask(unrolling, solver, question)
        if answer.status == "sat":
            anywhere = unrolling.anywhere
            where = in_words(*smallest_state(unrolling, solver, answer, question)) if anywhere else "the initial state"
            raise UsageError(f"in the worst run of {unrolling.system.name} it is not so that {name}", f"not in {where}")
        verdict = Verdict.PROVED if answer.status == "unsat" else Verdict.UNKNOWN
        decided.append(Obligation(name, "worst-run", verdict, perf_counter() - start, answer.reason))
    return decided


def worst_run(system: System, claim: Property, worst: WorstRun) -> Run:
    """The run at fixed parameters, as the interpreter goes through it."""
    state, made = initial_state(system), list[Made]()
    while claim.holds(state):
        if not worst.within(state):
            raise InternalError(f"the worst run of {system.name} leaves its way when it is replayed")
        choices, state = interpreted_round(system, worst.plan, state)
        made.append(choices)
    return confirmed(system, claim, Run(system.fixed_values(), tuple(made)))
