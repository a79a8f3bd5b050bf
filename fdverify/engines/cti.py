"""Counterexamples to induction: the smallest step that violates an obligation, and whether a run reaches it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fdverify.engines import exact
from fdverify.engines.inductive import (
    Broken,
    Invariant,
    Kind,
    Reached,
    Unbroken,
    Undecided,
    assumed,
    from_start,
    holds_at_end,
)
from fdverify.engines.parameters import least_value, small_instances, smallest
from fdverify.engines.reach import reach, reach_step
from fdverify.errors import InternalError
from fdverify.liveness.argument import Argument
from fdverify.logic import And, If, Not, Number, Truth
from fdverify.models.system import Integers, Property, StepProperty, System
from fdverify.smt.solver import Answer, FreshSolver
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.symbolic.witness import read_run
from fdverify.traces.run import Run, replay
from fdverify.traces.run import holds_at_end as replayed_holds

_SMALL_INSTANCES = 6
_ROUNDS_ELSEWHERE = 40


def explain(
    invariant: Invariant, kind: Kind, about: str, rounds: int, in_full: bool = True
) -> Broken | Unbroken | Undecided:
    """Find a small counterexample to an obligation from scratch, and replay it with the interpreter.

    If ``in_full``, also search for a run from the initial state that violates the claim.
    """
    claim = _claim(invariant, kind, about)
    hypotheses: list[Any] = []
    if kind is Kind.INITIATION:
        unrolling = from_start(invariant, rounds)
    else:
        unrolling = Unrolling(invariant.system, anywhere=True)
        for _ in range(rounds):
            hypotheses += assumed(invariant, kind, about, unrolling.states[-1])
            unrolling.extend()
        if rounds == 0:
            hypotheses = assumed(invariant, kind, about, unrolling.states[0])
    negated = truth(Not(holds_at_end(unrolling, claim)))
    solver = FreshSolver()
    solver.add(hypotheses)
    answer = exact.ask(unrolling, solver, negated)
    if answer.status == "unknown":
        # A claim about messages of neighbouring ages may need the neighbours of these ages, too.
        unrolling.closure.reach_further(unrolling.closure.reach + 2)
        solver.add(unrolling.new_facts())
        if solver.ask(negated).status == "unsat":
            return Unbroken()
        return Undecided(answer.reason)
    if answer.status == "unsat":
        return Unbroken()
    answer = _small(unrolling, solver, negated, answer)
    return _examined(invariant, claim, kind, read_run(unrolling, answer.value), in_full)


def _claim(invariant: Invariant, kind: Kind, about: str) -> Property | StepProperty:
    claims = invariant.conclusions if kind is invariant.conclusion_kind else invariant.conjuncts
    return next(claim for claim in claims if claim.name == about)


def _small(unrolling: Unrolling, solver: FreshSolver, negated: Any, answer: Answer) -> Answer:
    """Return the same answer with the smallest parameters, then with the smallest numbers in its first state."""

    def again(condition: Truth) -> Answer:
        return solver.ask(negated, truth(condition))

    answer = smallest(unrolling, answer, again)
    if not unrolling.anywhere:
        return answer
    for name in unrolling.system.arbitrary():
        value = unrolling.parameters[name]
        solver.add([truth(value == int(answer.value(value.term)))])
    numbers = [unrolling.states[0][v.name] for v in unrolling.system.variables if isinstance(v.sort, Integers)]
    total: Number = sum(If(number >= 0, number, -number) for number in numbers)
    return least_value(total, 0, answer, again)[0] if numbers else answer


def _examined(invariant: Invariant, claim: Property | StepProperty, kind: Kind, step: Run, in_full: bool) -> Broken:
    """Replay the step; then search for a run from the initial state that violates the claim."""
    trace = replay(invariant.system, step)
    states = [trace.initial, *(traced.after for traced in trace.rounds)]
    # A step from an arbitrary state starts in the invariant, and leaves it only in its last round, if it has one.
    inside = [] if kind is Kind.INITIATION else states[: max(1, len(trace.rounds))]
    hypotheses = invariant.hypotheses(kind, claim.name)
    violated = [conjunct.name for state in inside for conjunct in hypotheses if not conjunct.holds(state)]
    if violated:
        raise InternalError(f"the counterexample to {claim.name} starts in a state in which {violated[0]} is false")
    if replayed_holds(trace, claim):
        raise InternalError(f"the counterexample to {claim.name} does not violate it when it is replayed")
    if kind is Kind.INITIATION:
        return Broken(
            claim.name, step, Reached(step, complete=False, rounds=len(step.rounds)), _breaks(invariant, step)
        )
    if not in_full:
        return Broken(claim.name, step, None, breaks_goal=False)
    if isinstance(invariant.goal, Argument):
        return Broken(claim.name, step, _reached_premise(invariant, claim, step), breaks_goal=False)
    return Broken(claim.name, step, *_reached(invariant, invariant.goal, claim, step))


def _reached_premise(invariant: Invariant, claim: Property | StepProperty, step: Run) -> Reached:
    """Search for a run that violates a premise of an argument; no finite run can show that the goal is violated."""
    fixed, others = _instances(invariant, step)
    here = _reach(fixed, claim)
    violation = here if here.run is not None else _first_reached(others, claim)
    return here if violation is None else violation


def _instances(invariant: Invariant, step: Run) -> tuple[System, list[System]]:
    """Return the system at the parameters of the step, and at small ones.

    The smallest counterexample need not be reachable where a larger one is.
    """
    fixed = invariant.system.at({name: step.parameters[name] for name in invariant.system.arbitrary()})
    return fixed, small_instances(invariant.system)[:_SMALL_INSTANCES] if invariant.system.arbitrary() else []


def _reached(invariant: Invariant, goal: Property, claim: Property | StepProperty, step: Run) -> tuple[Reached, bool]:
    """Search for a run that violates the goal, else the claim; tell whether it violates the goal."""
    assert isinstance(claim, Property), "a claim about rounds is a premise"
    fixed, others = _instances(invariant, step)
    both = Property(claim.name, lambda s: And(goal.holds(s), claim.holds(s)), claim.meaning)
    here = reach(fixed, both)
    violation = here if here.run is not None else _first_reached(others, both)
    if violation is None:
        return here, False
    if violation.run is not None and _breaks(invariant, violation.run):
        return violation, True
    here = reach(fixed, goal)
    of_goal = here if here.run is not None else _first_reached(others, goal)
    return (violation, False) if of_goal is None else (of_goal, True)


def _reach(system: System, claim: Property | StepProperty, most_rounds: int | None = None) -> Reached:
    if isinstance(claim, StepProperty):
        return reach_step(system, claim)
    return reach(system, claim) if most_rounds is None else reach(system, claim, most_rounds)


def _first_reached(instances: Iterable[System], claim: Property | StepProperty) -> Reached | None:
    """Return the first violation of a claim in these instances, in their order."""
    answers = (_reach(instance, claim, _ROUNDS_ELSEWHERE) for instance in instances)
    return next((answer for answer in answers if answer.run is not None), None)


def _breaks(invariant: Invariant, run: Run) -> bool:
    """Tell whether the goal is false at the end of a run; a liveness goal never is."""
    if isinstance(invariant.goal, Argument):
        return False
    return not invariant.goal.holds(replay(invariant.system, run).last)
