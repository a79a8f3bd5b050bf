"""That a proof says something: its assumptions can hold, time goes on, phases do something, premises are reached.

Premises are found by watching the implications that a claim makes while it is evaluated in reached states.  Of a
liveness goal, what its argument is about must happen instead: a wrong suspicion, a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from fdverify.engines.dead_ends import dead_end
from fdverify.engines.inductive import ASSUMPTIONS, GOAL_PREMISE, NO_DEAD_END, PHASES, Invariant, Kind
from fdverify.engines.parameters import larger_instances, unsatisfiable
from fdverify.engines.runs_looked_at import Premise, RunsLookedAt, instances_to_look_at, look_at_runs
from fdverify.liveness.argument import Argument
from fdverify.logic import And, Truth
from fdverify.models.system import State, System
from fdverify.traces.run import Run
from fdverify.verdict import Obligation, Verdict

_DEAD_END_DEPTH = 20


@dataclass(frozen=True)
class Witness:
    """A run, and what holds at its end."""

    shows: str
    run: Run


@dataclass(frozen=True)
class Vacuity:
    """What was found: obligations, in words what is wrong, premises of helpers never met, runs to the goal's."""

    obligations: tuple[Obligation, ...]
    detail: str
    unmet: tuple[Premise, ...]
    idle: tuple[str, ...]
    witnesses: tuple[Witness, ...]
    dead_end: Run | None
    unseen: tuple[str, ...] = ()
    """What would be worth seeing, and was not."""
    false: tuple[str, ...] = ()
    """Claims that are false in a state that was reached."""
    remarks: tuple[str, ...] = ()
    """What could not be found out."""


def vacuity(invariant: Invariant) -> Vacuity:
    start = perf_counter()
    searched = look_at_runs(invariant)
    obligations = []
    details: list[str] = []

    def conclude(name: str, verdict: Verdict, detail: str) -> None:
        nonlocal start
        now = perf_counter()
        obligations.append(Obligation(name, Kind.VACUITY, verdict, now - start, detail))
        start = now
        if verdict is not Verdict.PROVED:
            details.append(detail)

    if searched is None:
        gave_up = (Verdict.UNKNOWN, "no parameters were found that satisfy the assumptions")
        conclude(ASSUMPTIONS, *(unsatisfiable(invariant.system) or gave_up))
        return Vacuity(tuple(obligations), details[0], (), (), (), None)
    conclude(ASSUMPTIONS, Verdict.PROVED, "")
    idle = searched.idle()
    # A phase that never acts may be what is proved; where none does, nothing happens at all.
    nothing = len(idle) == len(invariant.system.phases) and not searched.narrowed
    phases = f"no phase changed anything in the runs looked at, {searched.where()}"
    conclude(PHASES, *((Verdict.VACUOUS, phases) if nothing else (Verdict.PROVED, "")))
    missing = searched.missing()
    premise = f"{missing} in the runs looked at, {searched.where()}" if missing else ""
    fair = _fairness(invariant, searched)
    lacking = [each for each in (premise, fair.lacking) if each]
    conclude(GOAL_PREMISE, *((Verdict.VACUOUS, "; ".join(lacking)) if lacking else (Verdict.PROVED, "")))
    verdict, detail, run = dead_end(invariant.system, _all_hold(invariant), _DEAD_END_DEPTH)
    conclude(NO_DEAD_END, verdict, detail)
    unmet = tuple(premise for premise in searched.unmet() if not premise.of_goal)
    return Vacuity(
        tuple(obligations),
        "; ".join(details),
        unmet,
        tuple(idle),
        tuple(Witness(shows, found) for shows, found in searched.witnesses.items()),
        run,
        tuple(event.name for event in searched.looked_for()),
        tuple(sorted(searched.false)),
        (fair.remark,) if fair.remark else (),
    )


@dataclass(frozen=True)
class _Fairness:
    """Why there is no fair run, or why that is not known."""

    lacking: str = ""
    remark: str = ""


def _fairness(invariant: Invariant, searched: RunsLookedAt) -> _Fairness:
    """Whether what an argument assumes to hold again and again can; the run that shows it is noted."""
    goal = invariant.goal
    if not isinstance(goal, Argument) or goal.fair_runs is None:
        return _Fairness()
    # The graph library takes longer to import than most proofs to be looked at.
    from fdverify.engines.fair_loop import look_for_fair_run, never_fair

    known = instances_to_look_at(invariant.system)
    found = look_for_fair_run(goal.fair_runs, goal.fairness, _lazily(invariant.system, known))
    names = ", ".join(condition.name for condition in goal.fairness)
    if found.run is not None:
        searched.show_fair_run(found.run)
        return _Fairness()
    within = goal.fair_runs.within
    if found.without is not None:
        where = _numbers(found.without)
        return _Fairness(f"there is no fair run: {names} cannot hold again and again once {within.name} holds, {where}")
    never = never_fair(invariant, within)
    if never:
        return _Fairness(f"there is no fair run: {', '.join(never)} cannot hold once {within.name} holds")
    return _Fairness(
        remark="whether there is a fair run is not known: no instance could be searched to its end "
        f"for a loop in which {names} hold"
    )


def _lazily(system: System, known: Sequence[System]) -> Iterator[System]:
    yield from known
    yield from larger_instances(system, known)


def _numbers(instance: System) -> str:
    values = instance.parameter_values()
    return f"at {', '.join(f'{name} = {value}' for name, value in values.items()) or 'the only instance'}"


def _all_hold(invariant: Invariant) -> Callable[[State], Truth]:
    def holds(state: State) -> Truth:
        return And(*(conjunct.holds(state) for conjunct in invariant.hypotheses()))

    return holds
