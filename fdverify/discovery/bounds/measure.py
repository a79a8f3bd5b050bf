"""What small instances have for a bound, exactly, by exploring them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fdverify.discovery.bounds.hopeless import breaks_at_every_longer
from fdverify.discovery.bounds.instance import (
    NoBound,
    crashing,
    in_place,
    instance,
    least_initial_timeout,
    visit,
)
from fdverify.discovery.bounds.noticing import detection_times, silent
from fdverify.errors import NoInstance
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import System
from fdverify.traces.run import Run
from fdverify.traces.steps import ShownRun, show_run
from fdverify.verdict import Verdict

_LONGER = 2
"""So many timeouts beyond the least safe one are tried too: longer is not safer in every model."""
_TRIED_BEFORE_A_PROOF = 4


@dataclass(frozen=True)
class Broken:
    """An initial timeout with which the property is violated, by this run; of a system in which a crash may happen?"""

    timeout: int
    run: Run
    crash: bool
    shown: ShownRun


@dataclass(frozen=True)
class Least:
    """The least initial timeout for which the property holds, and how it fails with the next one that is shorter."""

    timeout: int
    shorter: Broken | None
    longer: tuple[int, ...] = ()
    """Longer timeouts for which it does not hold, of those that were tried."""


class Instances:
    """The instances of a job at some numbers, by their initial timeouts."""

    def __init__(
        self,
        job: CheckRequest,
        parameters: Mapping[str, int],
        with_crash: bool = False,
        report: Callable[[str], None] = silent,
    ) -> None:
        self.job = job
        self.parameters = dict(parameters)
        self.report = report
        self._jobs = [job]
        crash = {**job.options, **crashing(job.find_model())}
        if with_crash and crash != job.options:
            self._jobs.append(replace(job, options=crash))

    def violation(self, timeout: int) -> Broken | None:
        """How the property fails with an initial timeout, if it does."""
        for job in self._jobs:
            system = instance(job, self.parameters, timeout)
            self.report(f"trying {timeout} as initial timeout")
            _, run = visit(system, job.property_of(system), (), self.report)
            if run is not None:
                return Broken(timeout, run, job is not self.job, show_run(system, run))
        return None

    def admits(self, timeout: int) -> bool:
        """Whether the model allows such a timeout with these parameters."""
        try:
            instance(self.job, self.parameters, timeout).fixed_values()
        except NoInstance:
            return False
        return True


def least_timeout(instances: Instances, longest: int) -> Least:
    """The least safe one of the initial timeouts up to ``longest``, all of which are tried in turn."""
    broken: Broken | None = None
    first = least_initial_timeout(instances.job)
    tried, wanted_proof = 0, _TRIED_BEFORE_A_PROOF
    for timeout in range(first, longest + 1):
        if not instances.admits(timeout):
            continue
        found = instances.violation(timeout)
        if found is None:
            return Least(timeout, broken, _longer_that_fail(instances, timeout))
        broken, tried = found, tried + 1
        if tried == wanted_proof:
            wanted_proof *= _TRIED_BEFORE_A_PROOF
            _check_hope(instances, broken)
    where = in_place(instances.parameters)
    if broken is None:
        raise NoBound(f"the assumptions of the model allow no initial timeout from {first} to {longest}, at {where}")
    _check_hope(instances, broken)
    claim = instances.job.claim
    raise NoBound(
        f"{claim} is violated with every initial timeout from {first} to {longest}, and no longer one was tried, "
        f"at {where}",
        "--longest N tries longer ones",
    ).of(Verdict.UNKNOWN, broken.shown)


def _check_hope(instances: Instances, broken: Broken) -> None:
    """Refuse to go on where the run that was found breaks the property with every longer timeout as well."""
    job = instances.job
    crash = crashing(job.find_model()) if broken.crash else {}
    anything = replace(job, parameters=instances.parameters, options={**job.options, **crash, "timeout": "any"})
    system = anything.system()
    if breaks_at_every_longer(system, anything.property_of(system), broken.run, broken.timeout):
        where = in_place(instances.parameters)
        raise NoBound(
            f"{job.claim} is violated with every initial timeout, by the same choices from {broken.timeout} on, "
            f"at {where}"
        ).of(Verdict.VIOLATED, broken.shown)


def _longer_that_fail(instances: Instances, timeout: int) -> tuple[int, ...]:
    longer = range(timeout + 1, timeout + 1 + _LONGER)
    return tuple(each for each in longer if instances.admits(each) and instances.violation(each) is not None)


def least_timeout_near(instances: Instances, near: int, longest: int) -> Least:
    """Looked for from ``near`` on: down while the property holds, or up until it does."""
    first = least_initial_timeout(instances.job)
    admitted = [timeout for timeout in range(first, longest + 1) if instances.admits(timeout)]
    above = [timeout for timeout in admitted if timeout >= near]
    if not above:
        return least_timeout(instances, longest)
    at = admitted.index(above[0])
    broken = instances.violation(admitted[at])
    if broken is None:
        while at > 0 and broken is None:
            broken = instances.violation(admitted[at - 1])
            at -= broken is None
    else:
        while broken is not None:
            at, last = at + 1, broken
            if at == len(admitted):
                return least_timeout(instances, longest)
            broken = instances.violation(admitted[at])
        broken = last
    return Least(admitted[at], broken)


def largest_tried(parameters: Mapping[str, int]) -> int:
    """How far a safe timeout is looked for: timeouts are a few times what they have to wait for."""
    return 24 + 8 * sum(max(0, value) for value in parameters.values())


def row_of_least_timeouts(job: CheckRequest, along: str, values: range, others: dict[str, int]) -> dict[int, Least]:
    """Least timeouts along one parameter: what is found at one value is where to look at the next."""
    found: dict[int, Least] = {}
    near = 1
    for value in values:
        at = {along: value, **others}
        instances = Instances(job, at)
        if not any(instances.admits(timeout) for timeout in range(1, largest_tried(at) + 1)):
            continue
        found[value] = least_timeout_near(instances, near, largest_tried(at))
        near = found[value].timeout + 1
    return found


def check_longer(job: CheckRequest, parameters: dict[str, int], timeout: int) -> None:
    """Refuse to call a timeout one from which on the property holds where it is violated with a longer one."""
    fails = _longer_that_fail(Instances(job, parameters), timeout)
    if fails:
        raise NoBound(
            f"{job.claim} holds with {timeout} as initial timeout and not with {fails[0]}: "
            f"no timeout is found from which on it does, at {in_place(parameters)}"
        )


def row_of_detection_times(
    job: CheckRequest, along: str, values: range, others: dict[str, int], timeouts: range
) -> dict[int, dict[int, int]]:
    """For each value of one parameter and each of the timeouts: from which round after a crash the sender is suspected.

    The timeout is the one that the receiver has then, whatever it had first.
    """
    found: dict[int, dict[int, int]] = {}
    for value in values:
        times: dict[int, int] = {}
        for system in admitted_instances(job, {along: value, **others}, timeouts):
            for timeout, time in detection_times(system).items():
                if timeout in timeouts:
                    times[timeout] = max(time, times.get(timeout, 0))
        found[value] = times
    return found


def admitted_instances(job: CheckRequest, parameters: dict[str, int], timeouts: range) -> list[System]:
    """The instances with these initial timeouts, of those that the model allows."""
    instances = Instances(job, parameters)
    return [instance(job, parameters, timeout) for timeout in timeouts if instances.admits(timeout)]
