"""Vacuity: the obligations which show that a proof is not vacuous.

The assumptions must be satisfiable, some phase must change something, the goal's premise must be reached, and no state
may be a dead end.  For a liveness goal, the witnesses of its argument must occur instead, such as a wrong suspicion or
a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from fdverify.engines.dead_ends import check_no_dead_end
from fdverify.engines.instances import diagnose_assumptions, find_larger_instances
from fdverify.liveness.argument import Argument
from fdverify.logic import And, Truth
from fdverify.models.system import State, System
from fdverify.obligations.inductive import Invariant
from fdverify.obligations.obligation import ASSUMPTIONS, GOAL_PREMISE, NO_DEAD_END, PHASES, ObligationKind
from fdverify.obligations.sampled_runs import ImplicationPremise, SampledRuns, choose_instances, sample_runs
from fdverify.runs.run import Run
from fdverify.verdict import Obligation, Verdict

_DEAD_END_DEPTH = 20


@dataclass(frozen=True)
class Witness:
    """A run, and a description of what holds at its end."""

    shows: str
    run: Run


@dataclass(frozen=True)
class VacuityReport:
    """The outcome: obligations, what is wrong in words, premises of conjuncts that were never met, and witnesses."""

    obligations: tuple[Obligation, ...]
    detail: str
    unmet: tuple[ImplicationPremise, ...]
    idle: tuple[str, ...]
    witnesses: tuple[Witness, ...]
    dead_end: Run | None
    unseen: tuple[str, ...] = ()
    """Sightings of the argument that were not seen."""
    false: tuple[str, ...] = ()
    """Claims that are false in a reached state."""
    remarks: tuple[str, ...] = ()
    """Questions that could not be decided."""


def check_vacuity(invariant: Invariant) -> VacuityReport:
    """Decide the obligations against vacuity."""
    start = perf_counter()
    sample = sample_runs(invariant)
    obligations = []
    details: list[str] = []

    def record_obligation(name: str, verdict: Verdict, detail: str) -> None:
        nonlocal start
        now = perf_counter()
        obligations.append(Obligation(name, ObligationKind.VACUITY, verdict, now - start, detail))
        start = now
        if verdict is not Verdict.PROVED:
            details.append(detail)

    if sample is None:
        gave_up = (Verdict.UNKNOWN, "no parameters were found that satisfy the assumptions")
        record_obligation(ASSUMPTIONS, *(diagnose_assumptions(invariant.system) or gave_up))
        return VacuityReport(tuple(obligations), details[0], (), (), (), None)
    record_obligation(ASSUMPTIONS, Verdict.PROVED, "")
    idle = sample.list_idle_phases()
    # That one phase never acts may be what is proved; if no phase acts, nothing happens at all.
    nothing = len(idle) == len(invariant.system.phases) and not sample.has_fixed_parameter
    phases = f"no phase changed anything in the runs looked at, {sample.describe_instances()}"
    record_obligation(PHASES, *((Verdict.VACUOUS, phases) if nothing else (Verdict.PROVED, "")))
    missing = sample.describe_missing()
    premise = f"{missing} in the runs looked at, {sample.describe_instances()}" if missing else ""
    fair = _search_fair_run(invariant, sample)
    lacking = [detail for detail in (premise, fair.lacking) if detail]
    record_obligation(GOAL_PREMISE, *((Verdict.VACUOUS, "; ".join(lacking)) if lacking else (Verdict.PROVED, "")))
    verdict, detail, run = check_no_dead_end(invariant.system, _build_hypothesis(invariant), _DEAD_END_DEPTH)
    record_obligation(NO_DEAD_END, verdict, detail)
    unmet = tuple(premise for premise in sample.list_unmet_premises() if not premise.of_goal)
    return VacuityReport(
        tuple(obligations),
        "; ".join(details),
        unmet,
        tuple(idle),
        tuple(Witness(shows, witness) for shows, witness in sample.witnesses.items()),
        run,
        tuple(event.name for event in sample.list_missing_sightings()),
        tuple(sorted(sample.false)),
        (fair.remark,) if fair.remark else (),
    )


@dataclass(frozen=True)
class _FairRunFinding:
    """Why there is no fair run, or why this is not known; both are empty if there is one."""

    lacking: str = ""
    remark: str = ""


def _search_fair_run(invariant: Invariant, sample: SampledRuns) -> _FairRunFinding:
    """Search for a run in which all fairness conditions of an argument hold again and again; add it to the sample."""
    goal = invariant.goal
    if not isinstance(goal, Argument) or goal.fair_runs is None:
        return _FairRunFinding()
    # Importing the graph library takes longer than this check does for most proofs.
    from fdverify.obligations.fair_runs import find_fair_run, list_excluded_conditions

    known = choose_instances(invariant.system)
    search = find_fair_run(goal.fair_runs, goal.fairness, _generate_instances(invariant.system, known))
    names = ", ".join(condition.name for condition in goal.fairness)
    if search.run is not None:
        sample.add_fair_run(search.run)
        return _FairRunFinding()
    within = goal.fair_runs.within
    if search.without is not None:
        where = _format_parameters(search.without)
        return _FairRunFinding(
            f"there is no fair run: {names} cannot hold again and again once {within.name} holds, {where}"
        )
    never = list_excluded_conditions(invariant, within)
    if never:
        return _FairRunFinding(f"there is no fair run: {', '.join(never)} cannot hold once {within.name} holds")
    return _FairRunFinding(
        remark="whether there is a fair run is not known: no instance could be searched to its end "
        f"for a loop in which {names} hold"
    )


def _generate_instances(system: System, known: Sequence[System]) -> Iterator[System]:
    yield from known
    yield from find_larger_instances(system, known)


def _format_parameters(instance: System) -> str:
    values = instance.compute_parameters()
    return f"at {', '.join(f'{name} = {value}' for name, value in values.items()) or 'the only instance'}"


def _build_hypothesis(invariant: Invariant) -> Callable[[State], Truth]:
    def satisfies_hypotheses(state: State) -> Truth:
        return And(*(conjunct.holds(state) for conjunct in invariant.list_hypotheses()))

    return satisfies_hypotheses
