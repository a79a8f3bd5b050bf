"""The worst detection time: how late a crash is noticed at worst."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from fdverify.discovery.bounds.bound import Bound, Evidence
from fdverify.discovery.bounds.fit import Point, fitted, moduli_of
from fdverify.discovery.bounds.formula import Formula
from fdverify.discovery.bounds.grid import in_words, rows
from fdverify.discovery.bounds.instance import NoBound, crashing, detector_of, initial_timeout, instance
from fdverify.discovery.bounds.measure import row_of_detection_times
from fdverify.discovery.bounds.proved import described, enough, inductive
from fdverify.discovery.bounds.rounds import ROUNDS, counting_rounds, same_clock, with_rounds
from fdverify.discovery.bounds.survey import blamed, survey
from fdverify.engines.explore import explore
from fdverify.errors import UsageError
from fdverify.logic import Implies
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.detector import Detector
from fdverify.models.system import Property, State
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped import tightest
from fdverify.traces.steps import ShownRun, show_run
from fdverify.verdict import Verdict

_BUDGET = 8
_LARGEST_TIMEOUT = 7


def detection(
    job: CheckRequest, proof: Proof | None, deadline: float | None, report: Callable[[str], None]
) -> Bound | None:
    """Find a formula for the round after a crash from which the sender is suspected for good.

    The formula may use the timeout that the receiver has then.  Return ``None`` if no formula fits.
    """
    model = job.find_model()
    initial_timeout(job)
    job = replace(job, options={**job.options, "timeout": "any", **crashing(model)})
    system = job.system()
    detector = detector_of(system)
    timeout = detector.timeout
    if any(variable.name == timeout and variable.cap is not None for variable in system.variables):
        raise UsageError(f"{system.name} has a cap on {timeout}, which the detection time depends on")
    measured = _measured(job, deadline, report)
    if not measured:
        raise NoBound("a crashed sender is suspected at once in every instance explored: there is nothing to fit")
    names = [*(parameter.name for parameter in model.parameters), timeout]
    least = {**{parameter.name: parameter.least for parameter in model.parameters}, timeout: 1}
    shape = [(), *((p.name,) for p in model.parameters), *((timeout, p.name) for p in model.parameters[1:])]
    formula = fitted(names, least, measured, shape, moduli_of(system))
    if formula is None:
        return None
    report("proving that the formula is enough")
    conjuncts = proof or tightest(model, job.options, "completeness")
    return Bound(
        name="worst-detection-time",
        meaning=f"the rounds from a crash until the {detector.watched} is suspected for good, at worst",
        formula=formula,
        enough=None if conjuncts is None else _enough(job, formula, conjuncts, deadline),
        witness=_needed(job, formula, measured),
        explored=len(measured),
    )


def _measured(job: CheckRequest, deadline: float | None, report: Callable[[str], None]) -> dict[Point, int]:
    parameters, timeouts = job.find_model().parameters, range(1, _LARGEST_TIMEOUT + 1)
    tasks = {
        tuple(values.values()): partial(row_of_detection_times, job, parameters[0].name, along, values, timeouts)
        for values, along in rows(parameters, _BUDGET)
    }
    measured_rows = survey(blamed(job, tasks), deadline, report).items()
    return {
        (value, *rest, timeout): time
        for rest, row in measured_rows
        for value, times in row.items()
        for timeout, time in times.items()
    }


def _in_time(detector: Detector, clock: str, formula: Formula, early: int = 0) -> Callable[[State], Any]:
    """Build the claim that a sender is suspected from ``early`` rounds before the formula's value on."""
    return lambda s: Implies(s[clock] >= formula.value(s) - early, detector.suspects(s))


def _enough(job: CheckRequest, formula: Formula, conjuncts: Proof, deadline: float | None) -> Evidence | None:
    """Prove the formula in terms of the model's crash clock, once the clock is proved to count the rounds."""
    detector, model = detector_of(job.system()), job.find_model()
    counts = described("The crash clock counts the rounds since the crash.", same_clock(detector), "clock_counts")
    if not inductive(counting_rounds(model), job.options, counts, deadline):
        return None
    late = _in_time(detector, detector.crash_clock, formula)
    goal = described(
        "A sender is suspected once it has been crashed for as many rounds as the formula says.", late, "in_time"
    )
    return enough(conjuncts, model, job.options, goal, None, deadline)


def _needed(job: CheckRequest, formula: Formula, measured: dict[Point, int]) -> Evidence:
    """Return the evidence that one round earlier is too early: the instances explored, and a run in one of them."""
    names = [parameter.name for parameter in job.find_model().parameters]
    timeouts = sorted({point[-1] for point in measured})
    scope = f"{in_words(names, dict.fromkeys(point[:-1] for point in measured))}; timeout {timeouts[0]}..{timeouts[-1]}"
    return Evidence(
        scope, "in every instance explored, one round earlier is too early", (), _shown(job, formula, measured)
    )


def _shown(job: CheckRequest, formula: Formula, measured: dict[Point, int]) -> ShownRun | None:
    """Find a run in which the initial timeout is the one in the formula, in an instance that has such a run."""
    names = [parameter.name for parameter in job.find_model().parameters]
    for *values, timeout in sorted(measured, key=lambda point: (point[1:-1], point[-1] % 3, -point[0]), reverse=True):
        system = instance(job, dict(zip(names, values, strict=True)), timeout)
        early = _in_time(detector_of(system), ROUNDS, formula, early=1)
        result = explore(with_rounds(system), Property("one_round_earlier", early, "suspected one round earlier"))
        if result.run is not None and result.verdict is Verdict.VIOLATED:
            return show_run(system, result.run)
    return None
