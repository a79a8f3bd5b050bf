"""Worst runs: prove that a plan leads to a violation of a claim, for all parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter

from fdverify.engines import exact_ages
from fdverify.engines.instances import diagnose_assumptions, find_smallest_state
from fdverify.engines.plans import describe_state, evaluate_plan, interpret_planned_round, is_well_formed
from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, Implies, Not, Or, Truth
from fdverify.models.planned_runs import WorstRun
from fdverify.models.system import Property, State, System
from fdverify.runs.concrete_interpreter import ChoiceValues, build_initial_state
from fdverify.runs.run import Run, confirm_violation
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.next_round import run_planned_round
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import Obligation, Verdict


def decide_worst_run_obligations(system: System, claim: Property, worst: WorstRun) -> list[Obligation]:
    """Decide each condition that makes the plan lead to a violation: proved or unknown; refuse a plan that is wrong."""
    no_parameters = diagnose_assumptions(system)
    if no_parameters is not None:
        verdict, reason = no_parameters
        return [Obligation("there are such parameters", "worst-run", verdict, 0.0, reason)]
    start = Unrolling(system)
    obligations = _decide_conditions(start, [("the run begins", worst.within(start.states[0]))])
    anywhere = Unrolling(system, anywhere=True)
    anywhere.closure.extend_reach(1)  # messages grow older by one in the round that is built on this state
    return [*obligations, *_decide_conditions(anywhere, _build_conditions(system, claim, worst, anywhere.states[0]))]


def _build_conditions(system: System, claim: Property, worst: WorstRun, before: State) -> Iterator[tuple[str, Truth]]:
    """Build the conditions on every state that make a run under way end, and end in a violation."""
    after, allowed = run_planned_round(system, before, evaluate_plan(system, worst.plan, before))
    under_way = And(is_well_formed(system, before), worst.within(before), claim.holds(before))
    falls = And(worst.left(after) >= 0, worst.left(after) < worst.left(before))
    goes_on = And(is_well_formed(system, after), worst.within(after), falls)
    yield "each round is allowed", Implies(under_way, allowed)
    yield f"{claim.name} is false in the end", Implies(under_way, Or(Not(claim.holds(after)), goes_on))


def _decide_conditions(unrolling: Unrolling, conditions: Iterable[tuple[str, Truth]]) -> list[Obligation]:
    solver, decided = FreshSolver(), list[Obligation]()
    for name, condition in conditions:
        start = perf_counter()
        question = lift_truth(Not(condition))
        answer = exact_ages.ask_exactly(unrolling, solver, question)
        if answer.status == "sat":
            anywhere = unrolling.anywhere
            where = (
                describe_state(*find_smallest_state(unrolling, solver, answer, question))
                if anywhere
                else "the initial state"
            )
            raise UsageError(
                f"the worst run of {unrolling.system.name} is wrong: it is not true that {name}",
                f"it is false in {where}",
            )
        verdict = Verdict.PROVED if answer.status == "unsat" else Verdict.UNKNOWN
        decided.append(Obligation(name, "worst-run", verdict, perf_counter() - start, answer.reason))
    return decided


def interpret_worst_run(system: System, claim: Property, worst: WorstRun) -> Run:
    """Interpret the worst run at fixed parameters, and confirm it by a replay."""
    state, run = build_initial_state(system), list[ChoiceValues]()
    while claim.holds(state):
        if not worst.within(state):
            raise InternalError(f"the worst run of {system.name} leaves its declared states when it is replayed")
        choices, state = interpret_planned_round(system, worst.plan, state)
        run.append(choices)
    return confirm_violation(system, claim, Run(system.compute_fixed_parameters(), tuple(run)))
