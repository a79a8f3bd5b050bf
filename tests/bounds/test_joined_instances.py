"""Instances that are explored together give what they give one by one, and those that differ are not joined."""

from dataclasses import replace

import pytest

from fdverify.bounds.detection_times import measure_detection_times, measure_instances
from fdverify.bounds.detector_instance import NoBound
from fdverify.bounds.joined_instances import START, join_instances
from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.logic import And
from fdverify.models.system import Flag, Property, System, update
from fdverify.verdict import Verdict

TIMEOUTS = (1, 2, 3)


def instance(variant: str, timeout: int) -> System:
    return build_chandra_toueg(1, 1, variant=variant, crash=True, timeout=str(timeout))


@pytest.mark.parametrize("variant", ["tla", "ivy"])
def test_detection_times_are_those_of_one_by_one(variant: str) -> None:
    instances = [instance(variant, timeout) for timeout in TIMEOUTS]
    (together,) = measure_instances(instances)
    one_by_one = [measure_detection_times(each) for each in instances]
    timeouts = {timeout for times in one_by_one for timeout in times}
    assert together == {timeout: max(times.get(timeout, 0) for times in one_by_one) for timeout in timeouts}


def test_only_instances_that_differ_in_their_starts_are_joined() -> None:
    first, second, third = (instance("tla", timeout) for timeout in TIMEOUTS)
    joined = join_instances([first, second, third], ())
    assert joined is not None
    assert START in [variable.name for variable in joined.variables]
    assert join_instances([first], ()) is None
    assert join_instances([first, instance("ivy", 2)], ()) is None
    assert join_instances([first, second.with_phase("compute", lambda s, c: update())], ()) is None
    assert join_instances([first, second, instance("tla", 5)], ()) is None
    reads = Property("first", lambda s: s.timeout > s.initial_timeout, "it reads the parameter that differs")
    assert join_instances([first, second], (reads,)) is None


def test_a_detector_that_never_suspects_is_not_measured_together() -> None:
    never = [instance("tla", timeout).with_phase("compute", lambda s, c: update()) for timeout in TIMEOUTS]
    with pytest.raises(
        NoBound, match="the detection time is unbounded, at delta = 1, phi = 1, initial_timeout = 1"
    ) as e:
        measure_instances(never)
    assert e.value.verdict is Verdict.VIOLATED


def test_an_instance_without_a_crash_is_told_of() -> None:
    """The others have crashes, so the joined system has states after a crash."""

    def crash_only_with_a_long_timeout(system: System) -> System:
        crash = system.phase("crash")
        (may_crash,) = crash.choices
        assert isinstance(may_crash, Flag)
        late = replace(may_crash, when=lambda s: And(may_crash.when(s), s.timeout > 50))
        phases = tuple(replace(phase, choices=(late,)) if phase is crash else phase for phase in system.phases)
        return replace(system, phases=phases, worst=())

    instances = [crash_only_with_a_long_timeout(instance("tla", timeout)) for timeout in (7, 57)]
    assert join_instances(instances, ()) is not None
    with pytest.raises(NoBound, match=r"no sender ever crashes in chandra-toueg, at .* initial_timeout = 7"):
        measure_instances(instances)
