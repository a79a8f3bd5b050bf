"""Counts of wrong suspicions in small instances, where no proof bounds them for all parameters.

The numbers are how often a correct sender is suspected, and for how long.  Nothing is assumed about how the detector
learns: suspicions are counted in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from fdverify.bounds.detection_times import ignore_progress
from fdverify.bounds.detector_instance import EVERY_STATE, visit_states
from fdverify.bounds.formula_fitting import ParameterPoint, fit_formula, list_moduli
from fdverify.bounds.instance_grid import enumerate_rows
from fdverify.bounds.measurement import list_admitted_instances
from fdverify.bounds.parallel_measurement import blame_model_file, run_measurements
from fdverify.logic import And, If, Min
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.detector import Detector
from fdverify.models.system import Choices, Integers, Phase, State, System, Update, Variable, update
from fdverify.runs.concrete_interpreter import build_initial_state

_BUDGET = 4
_LARGEST_TIMEOUT = 6
_BEGUN, _LASTED = "hbegun", "hlasted"
_MOST = 64
"""Where counting stops: a detector that never learns has no bound on its wrong suspicions."""
COUNTERS = {_BEGUN: "most-wrong-suspicions", _LASTED: "longest-wrong-suspicion"}


def count_wrong_suspicions(
    request: CheckRequest, deadline: float | None, report: Callable[[str], None]
) -> tuple[str, ...]:
    """Count wrong suspicions, and describe each number in a line, with a formula that fits its positive values."""
    request = replace(request, options={**request.options, "timeout": "any"})
    system, parameters = request.build_system(), request.find_model().parameters
    detector = system.detector
    if detector is None or detector.stabilisation is not None:
        return ()
    tasks = {
        tuple(values.values()): partial(_count_row, request, parameters[0].name, along, values)
        for values, along in enumerate_rows(parameters, _BUDGET)
    }
    counted_rows = run_measurements(blame_model_file(request, tasks), deadline, report).items()
    measured = {(value, *rest, timeout): most for rest, row in counted_rows for (value, timeout), most in row.items()}
    if not measured:
        return ()
    names = [*(parameter.name for parameter in parameters), detector.first_timeout]
    least = {**{parameter.name: parameter.least for parameter in parameters}, detector.first_timeout: 1}
    return tuple(
        describe_counts(
            what, {point: most[name] for point, most in measured.items()}, names, least, list_moduli(system)
        )
        for name, what in COUNTERS.items()
    )


def describe_counts(
    what: str, measured: dict[ParameterPoint, int], names: list[str], least: dict[str, int], moduli: tuple[int, ...]
) -> str:
    positive = {point: most for point, most in measured.items() if most > 0}
    if not positive:
        return f"{what}: none in {len(measured)} instances explored"
    low, high = min(positive.values()), max(positive.values())
    if high == _MOST:
        return f"{what}: {_MOST} or more in some of {len(measured)} instances; no bound was found"
    formula = fit_formula(names, least, positive, [(), *((name,) for name in names)], moduli)
    fits = "no formula fits" if formula is None else f"{formula} where there are any; not proved"
    return f"{what}: {low} to {high} in {len(positive)} of {len(measured)} instances; {fits}"


def _count_row(
    request: CheckRequest, along: str, values: range, others: dict[str, int]
) -> dict[tuple[int, int], dict[str, int]]:
    """Count for each value of one parameter and each initial timeout; the result is the largest number in any run."""
    most = {}
    for value in values:
        for timeout in range(1, _LARGEST_TIMEOUT + 1):
            for system in list_admitted_instances(request, {along: value, **others}, range(timeout, timeout + 1)):
                most[value, timeout] = find_largest_counts(system)
    return most


def find_largest_counts(system: System) -> dict[str, int]:
    """Return the most wrong suspicions that begin in a run, and the most rounds that one lasts, both up to the cap."""
    assert system.detector is not None, "callers check that there is one"
    exploration, _ = visit_states(_add_suspicion_counters(system, system.detector), EVERY_STATE, (), ignore_progress)
    states = exploration.batches.restore_state(exploration.get_all_states())
    return {name: int(states[name].max()) for name in COUNTERS}


def _add_suspicion_counters(system: System, detector: Detector) -> System:
    """Extend the system with a phase that counts wrong suspicions at the end of each round."""

    def count_suspicions(s: State, c: Choices) -> Update:
        wrong = And(detector.suspects(s), detector.correct(s))
        begun = If(And(wrong, s[_LASTED] == 0), s[_BEGUN] + 1, s[_BEGUN])
        lasted = If(wrong, s[_LASTED] + 1, 0)
        return update(**{_BEGUN: Min(begun, _MOST), _LASTED: Min(lasted, _MOST)})

    # A wrong suspicion in the initial state counts as begun, and as lasting one round.
    first = build_initial_state(system)
    at_first = int(And(detector.suspects(first), detector.correct(first)))
    counters = tuple(Variable(name, Integers(), initial=lambda s: at_first, ghost=True) for name in COUNTERS)
    phases = (*system.phases, Phase("count_suspicions", count_suspicions))
    return replace(system, variables=(*system.variables, *counters), phases=phases)
