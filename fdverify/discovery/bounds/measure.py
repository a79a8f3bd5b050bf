"""Exact measurements on small instances, by exploring them: least safe timeouts and detection times."""

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
"""How many timeouts beyond the least safe one are tried too: in some models a longer timeout is not safer."""
_TRIED_BEFORE_A_PROOF = 4
"""How many unsafe timeouts are tried before a proof is attempted that all longer ones are unsafe too."""


@dataclass(frozen=True)
class Broken:
    """An initial timeout with which a run violates the property; ``crash`` says whether the sender may crash in it."""

    timeout: int
    run: Run
    crash: bool
    shown: ShownRun


@dataclass(frozen=True)
class Least:
    """The least initial timeout with which the property holds, and a violation with the next shorter one."""

    timeout: int
    shorter: Broken | None
    longer: tuple[int, ...] = ()
    """Those of the longer timeouts tried with which the property does not hold."""


class Instances:
    """The instances at given parameters, one for each initial timeout; optionally also those with a crash."""

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
        """Return a violation of the property with this initial timeout, if there is one."""
        for job in self._jobs:
            system = instance(job, self.parameters, timeout)
            self.report(f"trying {timeout} as initial timeout")
            _, run = visit(system, job.property_of(system), (), self.report)
            if run is not None:
                return Broken(timeout, run, job is not self.job, show_run(system, run))
        return None

    def admits(self, timeout: int) -> bool:
        """Return whether the model's assumptions allow this timeout with these parameters."""
        try:
            instance(self.job, self.parameters, timeout).fixed_values()
        except NoInstance:
            return False
        return True


def least_timeout(instances: Instances, longest: int) -> Least:
    """Find the least safe initial timeout up to ``longest``, by trying one after the other."""
    broken: Broken | None = None
    first = least_initial_timeout(instances.job)
    tried, wanted_proof = 0, _TRIED_BEFORE_A_PROOF
    for timeout in range(first, longest + 1):
        if not instances.admits(timeout):
            continue
        violation = instances.violation(timeout)
        if violation is None:
            return Least(timeout, broken, _longer_that_fail(instances, timeout))
        broken, tried = violation, tried + 1
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
    """Raise ``NoBound`` if the choices of this run violate the property with every longer timeout too."""
    job = instances.job
    crash = crashing(job.find_model()) if broken.crash else {}
    any_timeout = replace(job, parameters=instances.parameters, options={**job.options, **crash, "timeout": "any"})
    system = any_timeout.system()
    if breaks_at_every_longer(system, any_timeout.property_of(system), broken.run, broken.timeout):
        where = in_place(instances.parameters)
        raise NoBound(
            f"{job.claim} is violated with every initial timeout, by the same choices from {broken.timeout} on, "
            f"at {where}"
        ).of(Verdict.VIOLATED, broken.shown)


def _longer_that_fail(instances: Instances, timeout: int) -> tuple[int, ...]:
    candidates = range(timeout + 1, timeout + 1 + _LONGER)
    return tuple(
        longer for longer in candidates if instances.admits(longer) and instances.violation(longer) is not None
    )


def least_timeout_near(instances: Instances, near: int, longest: int) -> Least:
    """Find the least safe timeout from ``near`` on: search down while the property holds, or up until it does."""
    first = least_initial_timeout(instances.job)
    admitted = [timeout for timeout in range(first, longest + 1) if instances.admits(timeout)]
    above = [timeout for timeout in admitted if timeout >= near]
    if not above:
        return least_timeout(instances, longest)
    index = admitted.index(above[0])
    broken = instances.violation(admitted[index])
    if broken is None:
        while index > 0 and broken is None:
            broken = instances.violation(admitted[index - 1])
            index -= broken is None
    else:
        while broken is not None:
            index, last = index + 1, broken
            if index == len(admitted):
                return least_timeout(instances, longest)
            broken = instances.violation(admitted[index])
        broken = last
    return Least(admitted[index], broken)


def largest_tried(parameters: Mapping[str, int]) -> int:
    """Return the longest timeout to try: a safe timeout is a small multiple of the delays that it waits for."""
    return 24 + 8 * sum(max(0, value) for value in parameters.values())


def row_of_least_timeouts(job: CheckRequest, along: str, values: range, others: dict[str, int]) -> dict[int, Least]:
    """Measure least timeouts along one parameter; each search starts near the previous result."""
    row: dict[int, Least] = {}
    near = 1
    for value in values:
        parameters = {along: value, **others}
        instances = Instances(job, parameters)
        if not any(instances.admits(timeout) for timeout in range(1, largest_tried(parameters) + 1)):
            continue
        row[value] = least_timeout_near(instances, near, largest_tried(parameters))
        near = row[value].timeout + 1
    return row


def check_longer(job: CheckRequest, parameters: dict[str, int], timeout: int) -> None:
    """Raise ``NoBound`` if the property is violated with a timeout that is longer than this safe one."""
    fails = _longer_that_fail(Instances(job, parameters), timeout)
    if fails:
        raise NoBound(
            f"{job.claim} holds with {timeout} as initial timeout, but not with {fails[0]}: "
            f"no timeout was found from which it always holds, at {in_place(parameters)}"
        )


def row_of_detection_times(
    job: CheckRequest, along: str, values: range, others: dict[str, int], timeouts: range
) -> dict[int, dict[int, int]]:
    """Measure, for each value of one parameter, from which round after a crash the sender is suspected for good.

    The times are given by timeout: the one that the receiver has then, which need not be the initial one.
    """
    row: dict[int, dict[int, int]] = {}
    for value in values:
        times: dict[int, int] = {}
        for system in admitted_instances(job, {along: value, **others}, timeouts):
            for timeout, time in detection_times(system).items():
                if timeout in timeouts:
                    times[timeout] = max(time, times.get(timeout, 0))
        row[value] = times
    return row


def admitted_instances(job: CheckRequest, parameters: dict[str, int], timeouts: range) -> list[System]:
    """List the instances with those of the initial timeouts that the model allows."""
    instances = Instances(job, parameters)
    return [instance(job, parameters, timeout) for timeout in timeouts if instances.admits(timeout)]
