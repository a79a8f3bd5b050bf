"""Exact measurements on small instances, by exploring them: least safe timeouts and detection times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fdverify.bounds.detection_times import ignore_progress, measure_instances
from fdverify.bounds.detector_instance import (
    NoBound,
    build_crash_options,
    build_instance,
    find_least_initial_timeout,
    format_parameters,
    visit_states,
)
from fdverify.errors import NoInstance
from fdverify.logic import And, Implies, Not, Symbolic, Truth
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import Property, System
from fdverify.runs.run import Run
from fdverify.runs.run_table import ShownRun, show_run
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.next_round import run_planned_round
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import Verdict

_LONGER = 2
"""How many timeouts beyond the least safe one are tried too: in some models a longer timeout is not safer."""
_TRIED_BEFORE_A_PROOF = 4
"""How many unsafe timeouts are tried before a proof is attempted that all longer ones are unsafe too."""
_LONGEST_RUN = 32
"""In rounds: a run that grows with the timeout does not serve for all timeouts, and terms grow with the run."""


@dataclass(frozen=True)
class TimeoutViolation:
    """An initial timeout with which a run violates the property; ``crash`` says whether the sender may crash in it."""

    timeout: int
    run: Run
    crash: bool
    shown: ShownRun


@dataclass(frozen=True)
class LeastTimeout:
    """The least initial timeout with which the property holds, and a violation with the next shorter one."""

    timeout: int
    shorter: TimeoutViolation | None
    longer: tuple[int, ...] = ()
    """Those of the longer timeouts tried with which the property does not hold."""


class TimeoutInstances:
    """The instances at given parameters, one for each initial timeout; optionally also those with a crash."""

    def __init__(
        self,
        request: CheckRequest,
        parameters: Mapping[str, int],
        with_crash: bool = False,
        report: Callable[[str], None] = ignore_progress,
    ) -> None:
        self.request = request
        self.parameters = dict(parameters)
        self.report = report
        self._requests = [request]
        crash = {**request.options, **build_crash_options(request.find_model())}
        if with_crash and crash != request.options:
            self._requests.append(replace(request, options=crash))

    def find_violation(self, timeout: int) -> TimeoutViolation | None:
        """Return a violation of the property with this initial timeout, if there is one."""
        for request in self._requests:
            system = build_instance(request, self.parameters, timeout)
            self.report(f"trying {timeout} as initial timeout")
            _, run = visit_states(system, request.find_property(system), (), self.report)
            if run is not None:
                return TimeoutViolation(timeout, run, request is not self.request, show_run(system, run))
        return None

    def admits(self, timeout: int) -> bool:
        """Return whether the model's assumptions allow this timeout with these parameters."""
        try:
            build_instance(self.request, self.parameters, timeout).compute_fixed_parameters()
        except NoInstance:
            return False
        return True


def find_least_timeout(instances: TimeoutInstances, longest: int) -> LeastTimeout:
    """Find the least safe initial timeout up to ``longest``, by trying one after the other."""
    broken: TimeoutViolation | None = None
    first = find_least_initial_timeout(instances.request)
    tried, wanted_proof = 0, _TRIED_BEFORE_A_PROOF
    for timeout in range(first, longest + 1):
        if not instances.admits(timeout):
            continue
        violation = instances.find_violation(timeout)
        if violation is None:
            return LeastTimeout(timeout, broken, _list_failing_longer_timeouts(instances, timeout))
        broken, tried = violation, tried + 1
        if tried == wanted_proof:
            wanted_proof *= _TRIED_BEFORE_A_PROOF
            _refuse_if_hopeless(instances, broken)
    where = format_parameters(instances.parameters)
    if broken is None:
        raise NoBound(f"the assumptions of the model allow no initial timeout from {first} to {longest}, at {where}")
    _refuse_if_hopeless(instances, broken)
    claim = instances.request.claim
    raise NoBound(
        f"{claim} is violated with every initial timeout from {first} to {longest}, and no longer one was tried, "
        f"at {where}",
        "--longest N tries longer ones",
    ).with_verdict(Verdict.UNKNOWN, broken.shown)


def _refuse_if_hopeless(instances: TimeoutInstances, broken: TimeoutViolation) -> None:
    """Raise ``NoBound`` if the choices of this run violate the property with every longer timeout too."""
    request = instances.request
    crash = build_crash_options(request.find_model()) if broken.crash else {}
    any_timeout = replace(
        request, parameters=instances.parameters, options={**request.options, **crash, "timeout": "any"}
    )
    system = any_timeout.build_system()
    if _is_violated_at_every_longer_timeout(system, any_timeout.find_property(system), broken.run, broken.timeout):
        where = format_parameters(instances.parameters)
        raise NoBound(
            f"{request.claim} is violated with every initial timeout, by the same choices from {broken.timeout} on, "
            f"at {where}"
        ).with_verdict(Verdict.VIOLATED, broken.shown)


def _list_failing_longer_timeouts(instances: TimeoutInstances, timeout: int) -> tuple[int, ...]:
    candidates = range(timeout + 1, timeout + 1 + _LONGER)
    return tuple(
        longer for longer in candidates if instances.admits(longer) and instances.find_violation(longer) is not None
    )


def find_least_timeout_near(instances: TimeoutInstances, near: int, longest: int) -> LeastTimeout:
    """Find the least safe timeout from ``near`` on: search down while the property holds, or up until it does."""
    first = find_least_initial_timeout(instances.request)
    admitted = [timeout for timeout in range(first, longest + 1) if instances.admits(timeout)]
    above = [timeout for timeout in admitted if timeout >= near]
    if not above:
        return find_least_timeout(instances, longest)
    index = admitted.index(above[0])
    broken = instances.find_violation(admitted[index])
    if broken is None:
        while index > 0 and broken is None:
            broken = instances.find_violation(admitted[index - 1])
            index -= broken is None
    else:
        while broken is not None:
            index, last = index + 1, broken
            if index == len(admitted):
                return find_least_timeout(instances, longest)
            broken = instances.find_violation(admitted[index])
        broken = last
    return LeastTimeout(admitted[index], broken)


def compute_longest_timeout(parameters: Mapping[str, int]) -> int:
    """Return the longest timeout to try: a safe timeout is a small multiple of the delays that it waits for."""
    return 24 + 8 * sum(max(0, value) for value in parameters.values())


def measure_row_of_least_timeouts(
    request: CheckRequest, along: str, values: range, others: dict[str, int]
) -> dict[int, LeastTimeout]:
    """Measure least timeouts along one parameter; each search starts near the previous result."""
    row: dict[int, LeastTimeout] = {}
    near = 1
    for value in values:
        parameters = {along: value, **others}
        instances = TimeoutInstances(request, parameters)
        if not any(instances.admits(timeout) for timeout in range(1, compute_longest_timeout(parameters) + 1)):
            continue
        row[value] = find_least_timeout_near(instances, near, compute_longest_timeout(parameters))
        near = row[value].timeout + 1
    return row


def check_longer_timeouts(request: CheckRequest, parameters: dict[str, int], timeout: int) -> None:
    """Raise ``NoBound`` if the property is violated with a timeout that is longer than this safe one."""
    fails = _list_failing_longer_timeouts(TimeoutInstances(request, parameters), timeout)
    if fails:
        raise NoBound(
            f"{request.claim} holds with {timeout} as initial timeout, but not with {fails[0]}: "
            f"no timeout was found from which it always holds, at {format_parameters(parameters)}"
        )


def measure_detection_times_together(
    request: CheckRequest, parameters: dict[str, int], timeouts: range
) -> dict[int, int]:
    """Measure from which round after a crash the sender is suspected for good, with any of the initial timeouts.

    The times are given by timeout: the one that the receiver has then, which need not be the initial one.
    """
    times: dict[int, int] = {}
    for measured in measure_instances(list_admitted_instances(request, parameters, timeouts)):
        for timeout, time in measured.items():
            if timeout in timeouts:
                times[timeout] = max(time, times.get(timeout, 0))
    return times


def list_admitted_instances(request: CheckRequest, parameters: dict[str, int], timeouts: range) -> list[System]:
    """List the instances with those of the initial timeouts that the model allows."""
    instances = TimeoutInstances(request, parameters)
    return [build_instance(request, parameters, timeout) for timeout in timeouts if instances.admits(timeout)]


def _is_violated_at_every_longer_timeout(system: System, claim: Property, run: Run, least: int) -> bool:
    """Return whether the choices of a run lead to a violation with every initial timeout from ``least`` on.

    The initial timeout must be the only arbitrary parameter of the system.
    """
    (initial,) = system.list_arbitrary()
    if len(run.rounds) > _LONGEST_RUN:
        return False
    unrolling = Unrolling(system)
    state, allowed = unrolling.states[0], list[Truth]()
    for choices in run.rounds:
        state, possible = run_planned_round(system, state, choices)
        allowed.append(possible)
    broken = And(*allowed, Not(claim.holds(state)))
    question = Not(Implies(state[initial] >= least, broken))
    if not isinstance(question, Symbolic):
        return not question
    solver = FreshSolver()
    solver.add(unrolling.take_new_facts())
    return solver.ask(lift_truth(question)).status == "unsat"
