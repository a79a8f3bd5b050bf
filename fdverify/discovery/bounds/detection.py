"""How late a crash is noticed at worst."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from fdverify.discovery.bounds.bound import Bound, Evidence
from fdverify.discovery.bounds.fit import Point, fitted, moduli_of
from fdverify.discovery.bounds.formula import Formula
from fdverify.discovery.bounds.grid import in_words, rows
from fdverify.discovery.bounds.measure import crashing, detector_of, instance, row_of_detection_times
from fdverify.discovery.bounds.proved import described, enough
from fdverify.discovery.bounds.survey import survey
from fdverify.engines.explore import explore
from fdverify.errors import InternalError
from fdverify.job import Job
from fdverify.logic import Implies
from fdverify.models.system import Property, State
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped import tightest
from fdverify.traces.steps import Shown, shown
from fdverify.verdict import Verdict

_BUDGET = 8
_LARGEST_TIMEOUT = 7


def detection(job: Job, by: Proof | None, deadline: float | None, report: Callable[[str], None]) -> Bound | None:
    """From which round after its crash on a sender is suspected, in terms of the timeout that the receiver then has."""
    model = job.find_model()
    job = replace(job, options={**job.options, "timeout": "any", **crashing(model)})
    detector = detector_of(job.system())
    measured = _measured(job, deadline, report)
    timeout = detector.timeout
    names = [*(parameter.name for parameter in model.parameters), timeout]
    least = {**{parameter.name: parameter.least for parameter in model.parameters}, timeout: 1}
    shape = [(), *((p.name,) for p in model.parameters), *((timeout, p.name) for p in model.parameters[1:])]
    formula = fitted(names, least, measured, shape, moduli_of(job.system()))
    if formula is None:
        return None
    report("proving that the formula is enough")
    conjuncts = by or tightest(model, job.options, "completeness")
    return Bound(
        name="worst-detection-time",
        meaning=f"the rounds from a crash until the {detector.watched} is suspected for good, at worst",
        formula=formula,
        enough=None if conjuncts is None else _enough(job, formula, conjuncts, deadline),
        needed=_needed(job, formula, measured),
        measured=len(measured),
    )


def _measured(job: Job, deadline: float | None, report: Callable[[str], None]) -> dict[Point, int]:
    parameters, timeouts = job.find_model().parameters, range(1, _LARGEST_TIMEOUT + 1)
    tasks = {
        tuple(values.values()): partial(row_of_detection_times, job, parameters[0].name, along, values, timeouts)
        for values, along in rows(parameters, _BUDGET)
    }
    found = survey(tasks, deadline, report).items()
    return {
        (value, *rest, timeout): time
        for rest, row in found
        for value, times in row.items()
        for timeout, time in times.items()
    }


def _in_time(job: Job, formula: Formula, early: int = 0) -> Callable[[State], Any]:
    """That a sender is suspected once it has been crashed for so long, or for less by ``early`` rounds."""
    detector = detector_of(job.system())
    return lambda s: Implies(s[detector.crash_clock] >= formula.value(s) - early, detector.suspects(s))


def _enough(job: Job, formula: Formula, conjuncts: Proof, deadline: float | None) -> Evidence | None:
    goal = described("A sender that has been crashed for so long is suspected.", _in_time(job, formula), "in_time")
    return enough(conjuncts, job.find_model(), job.options, goal, None, deadline)


def _needed(job: Job, formula: Formula, measured: dict[Point, int]) -> Evidence:
    """In every instance explored, a sender is not suspected one round earlier; a run that shows it in one of them."""
    parameters = job.find_model().parameters
    words = f"{in_words(parameters, _BUDGET)}; timeout 1..{_LARGEST_TIMEOUT}"
    return Evidence(
        words, "in every instance explored, one round earlier is too early", (), _shown(job, formula, measured)
    )


def _shown(job: Job, formula: Formula, measured: dict[Point, int]) -> Shown:
    *values, timeout = max(measured, key=lambda at: (at[1:-1], at[-1] % 3, -at[0]))
    names = [parameter.name for parameter in job.find_model().parameters]
    system = instance(job, dict(zip(names, values, strict=True)), timeout)
    too_early = Property("one_round_earlier", _in_time(job, formula, early=1), "suspected one round earlier")
    result = explore(system, too_early)
    if result.verdict is not Verdict.VIOLATED or result.run is None:
        raise InternalError("a crash is noticed earlier than was measured")
    return shown(system, result.run)
