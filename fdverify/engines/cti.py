"""When an obligation fails: the step that breaks the conjunct, as small as can be found, and whether it is reached."""

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
    """Why an obligation fails, found again from scratch and replayed by the interpreter.

    Only ``in_full`` is a run to it looked for.
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
        # Claims about messages of neighbouring ages may need neighbours' neighbours.
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
    """The same with the smallest parameters, then with the smallest numbers in the state it starts from."""

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
    """Replay the step, then ask whether a run from the start gets there."""
    trace = replay(invariant.system, step)
    states = [trace.initial, *(traced.after for traced in trace.rounds)]
    # What starts from anywhere starts inside, and stays there until its last round, if it has one.
    inside = [] if kind is Kind.INITIATION else states[: max(1, len(trace.rounds))]
    hypotheses = invariant.hypotheses(kind, claim.name)
    wrong = [conjunct.name for state in inside for conjunct in hypotheses if not conjunct.holds(state)]
    if wrong:
        raise InternalError(f"the step against {claim.name} starts where {wrong[0]} is false")
    if replayed_holds(trace, claim):
        raise InternalError(f"the step against {claim.name} does not break it when it is replayed")
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
    """A run that breaks a claim on which an argument rests; what becomes of the goal, no finite run shows."""
    fixed, others = _instances(invariant, step)
    here = _reach(fixed, claim)
    found = here if here.run is not None else _first_reached(others, claim)
    return here if found is None else found


def _instances(invariant: Invariant, step: Run) -> tuple[System, list[System]]:
    """The system at the parameters of the step, then at small ones: the smallest step need not be the one reached."""
    fixed = invariant.system.at({name: step.parameters[name] for name in invariant.system.arbitrary()})
    return fixed, small_instances(invariant.system)[:_SMALL_INSTANCES] if invariant.system.arbitrary() else []


def _reached(invariant: Invariant, goal: Property, claim: Property | StepProperty, step: Run) -> tuple[Reached, bool]:
    """A run that breaks the goal if one is found, else one that breaks the claim, and whether it is the former."""
    assert isinstance(claim, Property), "what is claimed of rounds is a premise"
    fixed, others = _instances(invariant, step)
    both = Property(claim.name, lambda s: And(goal.holds(s), claim.holds(s)), claim.meaning)
    here = reach(fixed, both)
    found = here if here.run is not None else _first_reached(others, both)
    if found is None:
        return here, False
    if found.run is not None and _breaks(invariant, found.run):
        return found, True
    here = reach(fixed, goal)
    worse = here if here.run is not None else _first_reached(others, goal)
    return (found, False) if worse is None else (worse, True)


def _reach(system: System, claim: Property | StepProperty, most_rounds: int | None = None) -> Reached:
    if isinstance(claim, StepProperty):
        return reach_step(system, claim)
    return reach(system, claim) if most_rounds is None else reach(system, claim, most_rounds)


def _first_reached(instances: Iterable[System], claim: Property | StepProperty) -> Reached | None:
    """Where a claim is first found to be false."""
    reached = (_reach(instance, claim, _ROUNDS_ELSEWHERE) for instance in instances)
    return next((found for found in reached if found.run is not None), None)


def _breaks(invariant: Invariant, run: Run) -> bool:
    """Whether the goal is false at the end of a run, where a liveness goal never is."""
    if isinstance(invariant.goal, Argument):
        return False
    return not invariant.goal.holds(replay(invariant.system, run).last)
