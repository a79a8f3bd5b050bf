"""What small instances have for a bound, exactly, by exploring them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fdverify.engines.batch import truths
from fdverify.engines.caps import Caps
from fdverify.engines.explore import explore, explored
from fdverify.errors import UsageError
from fdverify.job import Job
from fdverify.logic import Not, Number
from fdverify.models.detector import Detector
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import Property, State, System
from fdverify.traces.run import Run
from fdverify.verdict import Verdict, silent

_FIRST_HORIZON, _LAST_HORIZON = 64, 1 << 14


@dataclass(frozen=True)
class Least:
    """The least initial timeout of an instance for which the property holds, and a run that breaks it at one less."""

    timeout: int
    run: Run | None


def least_timeout(job: Job, parameters: dict[str, int], near: int) -> Least:
    """Looked for from ``near`` on: down while the property holds, or up until it does."""
    timeout, run = near, _violation(job, parameters, near)
    while run is not None:
        timeout, broken = timeout + 1, run
        run = _violation(job, parameters, timeout)
        if run is None:
            return Least(timeout, broken)
    while timeout > 1:
        run = _violation(job, parameters, timeout - 1)
        if run is not None:
            return Least(timeout, run)
        timeout -= 1
    return Least(timeout, None)


def _violation(job: Job, parameters: dict[str, int], timeout: int) -> Run | None:
    system = instance(job, parameters, timeout)
    result = explore(system, job.property_of(system))
    if result.verdict not in (Verdict.PROVED, Verdict.VIOLATED):
        raise UsageError(f"{system.name} cannot be explored: {result.detail}")
    return result.run


def instance(job: Job, parameters: dict[str, int], timeout: int) -> System:
    """The job's system at fixed parameters with a fixed initial timeout."""
    return replace(job, parameters=parameters, options={**job.options, "timeout": str(timeout)}).system()


def row_of_least_timeouts(job: Job, along: str, values: range, others: dict[str, int]) -> dict[int, Least]:
    """Least timeouts along one parameter: what is found at one value is where to look at the next."""
    found: dict[int, Least] = {}
    near = 1
    for value in values:
        found[value] = least_timeout(job, {**others, along: value}, near)
        near = found[value].timeout + 1
    return found


def row_of_detection_times(
    job: Job, along: str, values: range, others: dict[str, int], timeouts: range
) -> dict[int, dict[int, int]]:
    """For each value of one parameter and each of the timeouts: from which round after a crash the sender is suspected.

    The timeout is the one that the receiver has then, whatever it had first.
    """
    found: dict[int, dict[int, int]] = {}
    for value in values:
        times: dict[int, int] = {}
        for first in timeouts:
            for timeout, time in detection_times(instance(job, {**others, along: value}, first)).items():
                if timeout in timeouts:
                    times[timeout] = max(time, times.get(timeout, 0))
        found[value] = times
    return found


def detection_times(system: System) -> dict[int, int]:
    detector = detector_of(system)
    caps: Caps = {variable.name: variable.cap for variable in system.variables if variable.cap is not None}
    anything = Property("anything", lambda s: True, "nothing is claimed")
    horizon = _FIRST_HORIZON
    while horizon <= _LAST_HORIZON:
        # Clocks run for ever after a crash, so they are stopped where all senders should long have been suspected.
        clocks: Caps = {variable.name: _constant(horizon) for variable in system.variables if variable.clock}
        exploration = explored(system, anything, {**caps, **clocks}, False, None, silent)
        columns = [np.concatenate(parts) for parts in zip(*exploration.levels, strict=True)]
        state = exploration.batches.state(columns)
        trusted = truths(Not(detector.suspects(state)), len(columns[0]))
        times, timeouts = state[detector.crash_clock][trusted], state[detector.timeout][trusted]
        if times.max(initial=0) < horizon:
            return {int(timeout): int(times[timeouts == timeout].max()) + 1 for timeout in np.unique(timeouts)}
        horizon *= 4
    raise UsageError(f"{system.name}: a sender that has crashed may never be suspected")


def _constant(number: int) -> Callable[[State], Number]:
    return lambda state: number


def crashing(model: Model) -> dict[str, OptionValue]:
    """The option with which a sender may crash, of a model that has it."""
    return {"crash": True} if any(option.name == "crash" for option in model.options) else {}


def detector_of(system: System) -> Detector:
    """The parts of a detector whose sender may crash."""
    if system.detector is None:
        raise UsageError(f"{system.name} does not say what its detector is made of", "give its System a Detector")
    if system.detector.crash_clock not in [variable.name for variable in system.variables]:
        raise UsageError(f"{system.name} has no clock {system.detector.crash_clock} that a crash starts")
    return system.detector
