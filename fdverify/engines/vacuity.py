"""Vacuity: the obligations which show that a proof is not vacuous.

The assumptions must be satisfiable, some phase must change something, the goal's premise must be reached, and no state
may be a dead end.  For a liveness goal, the witnesses of its argument must occur instead, such as a wrong suspicion or
a crash.
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
    """A run, and a description of what holds at its end."""

    shows: str
    run: Run


@dataclass(frozen=True)
class Vacuity:
    """The outcome: obligations, what is wrong in words, premises of conjuncts that were never met, and witnesses."""

    obligations: tuple[Obligation, ...]
    detail: str
    unmet: tuple[Premise, ...]
    idle: tuple[str, ...]
    witnesses: tuple[Witness, ...]
    dead_end: Run | None
    unseen: tuple[str, ...] = ()
    """Sightings of the argument that were not seen."""
    false: tuple[str, ...] = ()
    """Claims that are false in a reached state."""
    remarks: tuple[str, ...] = ()
    """Questions that could not be decided."""


def vacuity(invariant: Invariant) -> Vacuity:
    """Decide the obligations against vacuity."""
    start = perf_counter()
    sample = look_at_runs(invariant)
    obligations = []
    details: list[str] = []

    def conclude(name: str, verdict: Verdict, detail: str) -> None:
        nonlocal start
        now = perf_counter()
        obligations.append(Obligation(name, Kind.VACUITY, verdict, now - start, detail))
        start = now
        if verdict is not Verdict.PROVED:
            details.append(detail)

    if sample is None:
        gave_up = (Verdict.UNKNOWN, "no parameters were found that satisfy the assumptions")
        conclude(ASSUMPTIONS, *(unsatisfiable(invariant.system) or gave_up))
        return Vacuity(tuple(obligations), details[0], (), (), (), None)
    conclude(ASSUMPTIONS, Verdict.PROVED, "")
    idle = sample.idle()
    # That one phase never acts may be what is proved; if no phase acts, nothing happens at all.
    nothing = len(idle) == len(invariant.system.phases) and not sample.narrowed
    phases = f"no phase changed anything in the runs looked at, {sample.where()}"
    conclude(PHASES, *((Verdict.VACUOUS, phases) if nothing else (Verdict.PROVED, "")))
    missing = sample.missing()
    premise = f"{missing} in the runs looked at, {sample.where()}" if missing else ""
    fair = _fairness(invariant, sample)
    lacking = [detail for detail in (premise, fair.lacking) if detail]
    conclude(GOAL_PREMISE, *((Verdict.VACUOUS, "; ".join(lacking)) if lacking else (Verdict.PROVED, "")))
    verdict, detail, run = dead_end(invariant.system, _all_hold(invariant), _DEAD_END_DEPTH)
    conclude(NO_DEAD_END, verdict, detail)
    unmet = tuple(premise for premise in sample.unmet() if not premise.of_goal)
    return Vacuity(
        tuple(obligations),
        "; ".join(details),
        unmet,
        tuple(idle),
        tuple(Witness(shows, witness) for shows, witness in sample.witnesses.items()),
        run,
        tuple(event.name for event in sample.looked_for()),
        tuple(sorted(sample.false)),
        (fair.remark,) if fair.remark else (),
    )


@dataclass(frozen=True)
class _Fairness:
    """Why there is no fair run, or why this is not known; both are empty if there is one."""

    lacking: str = ""
    remark: str = ""


def _fairness(invariant: Invariant, sample: RunsLookedAt) -> _Fairness:
    """Search for a run in which all fairness conditions of an argument hold again and again; add it to the sample."""
    goal = invariant.goal
    if not isinstance(goal, Argument) or goal.fair_runs is None:
        return _Fairness()
    # Importing the graph library takes longer than this check does for most proofs.
    from fdverify.engines.fair_loop import look_for_fair_run, never_fair

    known = instances_to_look_at(invariant.system)
    search = look_for_fair_run(goal.fair_runs, goal.fairness, _lazily(invariant.system, known))
    names = ", ".join(condition.name for condition in goal.fairness)
    if search.run is not None:
        sample.show_fair_run(search.run)
        return _Fairness()
    within = goal.fair_runs.within
    if search.without is not None:
        where = _numbers(search.without)
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
