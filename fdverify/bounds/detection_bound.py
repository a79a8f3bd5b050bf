"""The worst detection time: how late a crash is noticed at worst."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from fdverify.bounds.bound_formula import BoundFormula
from fdverify.bounds.detector_bound import DetectorBound, Evidence
from fdverify.bounds.detector_instance import (
    NoBound,
    build_crash_options,
    build_instance,
    find_initial_timeout,
    require_detector,
)
from fdverify.bounds.formula_fitting import ParameterPoint, fit_formula, list_moduli
from fdverify.bounds.instance_grid import describe_instances, enumerate_points
from fdverify.bounds.measurement import measure_detection_times_together
from fdverify.bounds.parallel_measurement import blame_model_file, run_measurements
from fdverify.bounds.round_counter import (
    ROUND_COUNTER,
    add_round_counter,
    add_round_counter_to_model,
    build_same_clock_claim,
)
from fdverify.bounds.sufficiency import is_inductive, name_predicate, prove_with_conjuncts
from fdverify.engines.explore import explore
from fdverify.errors import UsageError
from fdverify.logic import Implies
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.detector import Detector
from fdverify.models.system import Property, State
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped_proofs import find_tight_proof
from fdverify.runs.run_table import ShownRun, show_run
from fdverify.verdict import Verdict

_BUDGET = 8
_LARGEST_TIMEOUT = 7


def find_detection_bound(
    request: CheckRequest, proof: Proof | None, deadline: float | None, report: Callable[[str], None]
) -> DetectorBound | None:
    """Find a formula for the round after a crash from which the sender is suspected for good.

    The formula may use the timeout that the receiver has then.  Return ``None`` if no formula fits.
    """
    model = request.find_model()
    find_initial_timeout(request)
    request = replace(request, options={**request.options, "timeout": "any", **build_crash_options(model)})
    system = request.build_system()
    detector = require_detector(system)
    timeout = detector.timeout
    if any(variable.name == timeout and variable.cap is not None for variable in system.variables):
        raise UsageError(f"{system.name} has a cap on {timeout}, which the detection time depends on")
    measured = _measure_detection_times(request, deadline, report)
    if not measured:
        raise NoBound("a crashed sender is suspected at once in every instance explored: there is nothing to fit")
    names = [*(parameter.name for parameter in model.parameters), timeout]
    least = {**{parameter.name: parameter.least for parameter in model.parameters}, timeout: 1}
    shape = [(), *((p.name,) for p in model.parameters), *((timeout, p.name) for p in model.parameters[1:])]
    formula = fit_formula(names, least, measured, shape, list_moduli(system))
    if formula is None:
        return None
    report("proving that the formula is enough")
    conjuncts = proof or find_tight_proof(model, request.options, "completeness")
    return DetectorBound(
        name="worst-detection-time",
        meaning=f"the rounds from a crash until the {detector.watched} is suspected for good, at worst",
        formula=formula,
        enough=None if conjuncts is None else _prove_sufficiency(request, formula, conjuncts, deadline),
        witness=_show_necessity(request, formula, measured),
        explored=len(measured),
    )


def _measure_detection_times(
    request: CheckRequest, deadline: float | None, report: Callable[[str], None]
) -> dict[ParameterPoint, int]:
    parameters, timeouts = request.find_model().parameters, range(1, _LARGEST_TIMEOUT + 1)
    tasks = {
        point: partial(measure_detection_times_together, request, values, timeouts)
        for point, values in enumerate_points(parameters, _BUDGET)
    }
    measured = run_measurements(blame_model_file(request, tasks), deadline, report)
    return {(*point, timeout): time for point, times in measured.items() for timeout, time in times.items()}


def _build_in_time_claim(
    detector: Detector, clock: str, formula: BoundFormula, early: int = 0
) -> Callable[[State], Any]:
    """Build the claim that a sender is suspected from ``early`` rounds before the formula's value on."""
    return lambda s: Implies(s[clock] >= formula.evaluate(s) - early, detector.suspects(s))


def _prove_sufficiency(
    request: CheckRequest, formula: BoundFormula, conjuncts: Proof, deadline: float | None
) -> Evidence | None:
    """Prove the formula in terms of the model's crash clock, once the clock is proved to count the rounds."""
    detector, model = require_detector(request.build_system()), request.find_model()
    counts = name_predicate(
        "The crash clock counts the rounds since the crash.", build_same_clock_claim(detector), "clock_counts"
    )
    if not is_inductive(add_round_counter_to_model(model), request.options, counts, deadline):
        return None
    late = _build_in_time_claim(detector, detector.crash_clock, formula)
    goal = name_predicate(
        "A sender is suspected once it has been crashed for as many rounds as the formula says.", late, "in_time"
    )
    return prove_with_conjuncts(conjuncts, model, request.options, goal, None, deadline)


def _show_necessity(request: CheckRequest, formula: BoundFormula, measured: dict[ParameterPoint, int]) -> Evidence:
    """Return the evidence that one round earlier is too early: the instances explored, and a run in one of them."""
    names = [parameter.name for parameter in request.find_model().parameters]
    timeouts = sorted({point[-1] for point in measured})
    instances = describe_instances(names, dict.fromkeys(point[:-1] for point in measured))
    scope = f"{instances}; timeout {timeouts[0]}..{timeouts[-1]}"
    return Evidence(
        scope,
        "in every instance explored, one round earlier is too early",
        (),
        _show_late_run(request, formula, measured),
    )


def _show_late_run(
    request: CheckRequest, formula: BoundFormula, measured: dict[ParameterPoint, int]
) -> ShownRun | None:
    """Find a run in which the initial timeout is the one in the formula, in an instance that has such a run."""
    names = [parameter.name for parameter in request.find_model().parameters]
    for *values, timeout in sorted(measured, key=lambda point: (point[1:-1], point[-1] % 3, -point[0]), reverse=True):
        system = build_instance(request, dict(zip(names, values, strict=True)), timeout)
        early = _build_in_time_claim(require_detector(system), ROUND_COUNTER, formula, early=1)
        result = explore(add_round_counter(system), Property("one_round_earlier", early, "suspected one round earlier"))
        if result.run is not None and result.verdict is Verdict.VIOLATED:
            return show_run(system, result.run)
    return None
