"""Counterexamples to induction: the smallest step that violates an obligation, and whether a run reaches it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fdverify.engines import exact_ages
from fdverify.engines.instances import list_small_instances, minimise_parameters, minimise_value
from fdverify.errors import InternalError
from fdverify.liveness.argument import Argument
from fdverify.logic import And, If, Not, Number, Truth
from fdverify.models.system import Integers, Property, StepProperty, System
from fdverify.obligations.inductive import Invariant, evaluate_claim_at_end, evaluate_hypotheses, unroll_from_start
from fdverify.obligations.obligation import (
    CounterexampleToInduction,
    NoCounterexample,
    ObligationKind,
    Reachability,
    UnknownCounterexample,
)
from fdverify.obligations.reachability import search_step_violation, search_violation
from fdverify.runs.run import Run, replay_run
from fdverify.runs.run import holds_at_end as replayed_holds
from fdverify.smt.solver import FreshSolver, SolverAnswer
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.symbolic.witness import read_run

_SMALL_INSTANCES = 6
_ROUNDS_ELSEWHERE = 40


def explain_failure(
    invariant: Invariant, kind: ObligationKind, about: str, rounds: int, in_full: bool = True
) -> CounterexampleToInduction | NoCounterexample | UnknownCounterexample:
    """Find a small counterexample to an obligation from scratch, and replay it with the interpreter.

    If ``in_full``, also search for a run from the initial state that violates the claim.
    """
    claim = _find_claim(invariant, kind, about)
    hypotheses: list[Any] = []
    if kind is ObligationKind.INITIATION:
        unrolling = unroll_from_start(invariant, rounds)
    else:
        unrolling = Unrolling(invariant.system, anywhere=True)
        for _ in range(rounds):
            hypotheses += evaluate_hypotheses(invariant, kind, about, unrolling.states[-1])
            unrolling.add_round()
        if rounds == 0:
            hypotheses = evaluate_hypotheses(invariant, kind, about, unrolling.states[0])
    negated = lift_truth(Not(evaluate_claim_at_end(unrolling, claim)))
    solver = FreshSolver()
    solver.add(hypotheses)
    answer = exact_ages.ask_exactly(unrolling, solver, negated)
    if answer.status == "unknown":
        # A claim about messages of neighbouring ages may need the neighbours of these ages, too.
        unrolling.closure.extend_reach(unrolling.closure.reach + 2)
        solver.add(unrolling.take_new_facts())
        if solver.ask(negated).status == "unsat":
            return NoCounterexample()
        return UnknownCounterexample(answer.reason)
    if answer.status == "unsat":
        return NoCounterexample()
    answer = _minimise_answer(unrolling, solver, negated, answer)
    return _examine_step(invariant, claim, kind, read_run(unrolling, answer.get_value), in_full)


def _find_claim(invariant: Invariant, kind: ObligationKind, about: str) -> Property | StepProperty:
    claims = invariant.conclusions if kind is invariant.conclusion_kind else invariant.conjuncts
    return next(claim for claim in claims if claim.name == about)


def _minimise_answer(unrolling: Unrolling, solver: FreshSolver, negated: Any, answer: SolverAnswer) -> SolverAnswer:
    """Return the same answer with the smallest parameters, then with the smallest numbers in its first state."""

    def ask_again(condition: Truth) -> SolverAnswer:
        return solver.ask(negated, lift_truth(condition))

    answer = minimise_parameters(unrolling, answer, ask_again)
    if not unrolling.anywhere:
        return answer
    for name in unrolling.system.list_arbitrary():
        value = unrolling.parameters[name]
        solver.add([lift_truth(value == int(answer.get_value(value.term)))])
    numbers = [unrolling.states[0][v.name] for v in unrolling.system.variables if isinstance(v.sort, Integers)]
    total: Number = sum(If(number >= 0, number, -number) for number in numbers)
    return minimise_value(total, 0, answer, ask_again)[0] if numbers else answer


def _examine_step(
    invariant: Invariant, claim: Property | StepProperty, kind: ObligationKind, step: Run, in_full: bool
) -> CounterexampleToInduction:
    """Replay the step; then search for a run from the initial state that violates the claim."""
    trace = replay_run(invariant.system, step)
    states = [trace.initial, *(traced.after for traced in trace.rounds)]
    # A step from an arbitrary state starts in the invariant, and leaves it only in its last round, if it has one.
    inside = [] if kind is ObligationKind.INITIATION else states[: max(1, len(trace.rounds))]
    hypotheses = invariant.list_hypotheses(kind, claim.name)
    violated = [conjunct.name for state in inside for conjunct in hypotheses if not conjunct.holds(state)]
    if violated:
        raise InternalError(f"the counterexample to {claim.name} starts in a state in which {violated[0]} is false")
    if replayed_holds(trace, claim):
        raise InternalError(f"the counterexample to {claim.name} does not violate it when it is replayed")
    if kind is ObligationKind.INITIATION:
        return CounterexampleToInduction(
            claim.name,
            step,
            Reachability(step, complete=False, rounds=len(step.rounds)),
            _is_goal_violated(invariant, step),
        )
    if not in_full:
        return CounterexampleToInduction(claim.name, step, None, breaks_goal=False)
    if isinstance(invariant.goal, Argument):
        return CounterexampleToInduction(
            claim.name, step, _search_premise_violation(invariant, claim, step), breaks_goal=False
        )
    return CounterexampleToInduction(claim.name, step, *_search_goal_violation(invariant, invariant.goal, claim, step))


def _search_premise_violation(invariant: Invariant, claim: Property | StepProperty, step: Run) -> Reachability:
    """Search for a run that violates a premise of an argument; no finite run can show that the goal is violated."""
    fixed, others = _choose_instances(invariant, step)
    here = _search_claim_violation(fixed, claim)
    violation = here if here.run is not None else _find_first_violation(others, claim)
    return here if violation is None else violation


def _choose_instances(invariant: Invariant, step: Run) -> tuple[System, list[System]]:
    """Return the system at the parameters of the step, and at small ones.

    The smallest counterexample need not be reachable where a larger one is.
    """
    fixed = invariant.system.fix_parameters({name: step.parameters[name] for name in invariant.system.list_arbitrary()})
    return fixed, list_small_instances(invariant.system)[:_SMALL_INSTANCES] if invariant.system.list_arbitrary() else []


def _search_goal_violation(
    invariant: Invariant, goal: Property, claim: Property | StepProperty, step: Run
) -> tuple[Reachability, bool]:
    """Search for a run that violates the goal, else the claim; tell whether it violates the goal."""
    assert isinstance(claim, Property), "a claim about rounds is a premise"
    fixed, others = _choose_instances(invariant, step)
    both = Property(claim.name, lambda s: And(goal.holds(s), claim.holds(s)), claim.meaning)
    here = search_violation(fixed, both)
    violation = here if here.run is not None else _find_first_violation(others, both)
    if violation is None:
        return here, False
    if violation.run is not None and _is_goal_violated(invariant, violation.run):
        return violation, True
    here = search_violation(fixed, goal)
    of_goal = here if here.run is not None else _find_first_violation(others, goal)
    return (violation, False) if of_goal is None else (of_goal, True)


def _search_claim_violation(
    system: System, claim: Property | StepProperty, most_rounds: int | None = None
) -> Reachability:
    if isinstance(claim, StepProperty):
        return search_step_violation(system, claim)
    return search_violation(system, claim) if most_rounds is None else search_violation(system, claim, most_rounds)


def _find_first_violation(instances: Iterable[System], claim: Property | StepProperty) -> Reachability | None:
    """Return the first violation of a claim in these instances, in their order."""
    answers = (_search_claim_violation(instance, claim, _ROUNDS_ELSEWHERE) for instance in instances)
    return next((answer for answer in answers if answer.run is not None), None)


def _is_goal_violated(invariant: Invariant, run: Run) -> bool:
    """Tell whether the goal is false at the end of a run; a liveness goal never is."""
    if isinstance(invariant.goal, Argument):
        return False
    return not invariant.goal.holds(replay_run(invariant.system, run).last)
