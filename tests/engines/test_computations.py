"""Synchrony and asynchrony: what the schedule allows, and which properties hold."""

from collections.abc import Iterator

import pytest

from fdverify.detectors.chandra_toueg import VARIANTS, build_chandra_toueg
from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.engines.live import live
from fdverify.engines.simulate import simulate
from fdverify.errors import UsageError
from fdverify.models.system import System
from fdverify.runs.run import TracedRound, replay_run
from fdverify.verdict import Verdict
from tests.sampling import every

LIVENESS = ("eventually-strong-accuracy", "strong-completeness")


def walked(system: System, seeds: range = range(20)) -> Iterator[list[TracedRound]]:
    """The rounds of random runs."""
    for seed in seeds:
        run = simulate(system, system.properties[0], rounds=60, seed=seed).run
        assert run is not None
        yield list(replay_run(system, run).rounds)


@pytest.mark.parametrize(("variant", "gaps"), [("tla", {3}), ("ivy", {1, 2, 3})])
def test_synchrony_is_lockstep(variant: str, gaps: set[int]) -> None:
    """The receiver steps every round; the sender sends every third, or at least every third."""
    system = build_chandra_toueg(2, None, variant=variant, computation="synchrony")
    seen = set()
    for rounds in walked(system):
        assert all(traced.choices["receiver_active"] for traced in rounds)
        sent = [number for number, traced in enumerate(rounds, start=1) if traced.choices["sender_active"]]
        seen |= {after - before for before, after in zip([0, *sent], sent, strict=False)}
    assert seen == gaps


@pytest.mark.parametrize("variant", every(2, VARIANTS))
@pytest.mark.parametrize("delta", every(2, [2, 0]))
def test_under_synchrony_every_property_holds(variant: str, delta: int) -> None:
    system = build_chandra_toueg(delta, None, variant=variant, crash=True, computation="synchrony")
    same = build_chandra_toueg(delta, 1, variant=variant, crash=True)
    for claim in system.properties:
        found = explore(system, claim)
        assert found.verdict is Verdict.PROVED
        assert found.statistics == explore(same, claim).statistics
    slow = build_chandra_toueg(delta, None, variant=variant, crash=True, timeout="1", computation="synchrony")
    for name in LIVENESS:
        assert live(slow, slow.find_liveness_property(name)).verdict is Verdict.PROVED


def test_synchrony_has_no_other_phi() -> None:
    with pytest.raises(UsageError, match="synchrony requires phi = 1, got 3"):
        build_chandra_toueg(2, 3, computation="synchrony")


@pytest.mark.parametrize("variant", VARIANTS)
def test_under_asynchrony_one_process_acts_at_a_time_and_may_idle_for_long(variant: str) -> None:
    system = build_chandra_toueg(1, 2, variant=variant, computation="asynchrony")
    longest = 0
    for rounds in walked(system):
        assert not any(traced.choices["sender_active"] and traced.choices["receiver_active"] for traced in rounds)
        idle = 0
        for traced in rounds:
            idle = 0 if traced.choices["receiver_active"] else idle + 1
            longest = max(longest, idle)
            assert traced.after.receiver_timer <= 2
            assert traced.after.sender_timer <= 6
    assert longest > 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_under_asynchrony_an_old_message_may_stay(variant: str) -> None:
    """Between two Receives the bound would not let it."""
    system = build_chandra_toueg(0, 1, variant=variant, computation="asynchrony")
    passed_over = (
        traced.after.buffer.has(0) and traced.after.receiver_pc == 1 and traced.after.receiver_timer == 0
        for rounds in walked(system)
        for traced in rounds
    )
    assert any(passed_over)


@pytest.mark.parametrize("variant", VARIANTS)
def test_under_asynchrony_accuracy_fails_whatever_the_timeout(variant: str) -> None:
    system = build_chandra_toueg(1, 1, variant=variant, crash=True, computation="asynchrony")
    accuracy, eventual, _ = system.properties
    assert explore(system, accuracy, depth=30).verdict is Verdict.VIOLATED
    assert bmc(system, eventual, depth=30).verdict is Verdict.VIOLATED
    for timeout in ("1", "7"):
        learning = build_chandra_toueg(1, 1, variant=variant, crash=True, timeout=timeout, computation="asynchrony")
        assert live(learning, learning.find_liveness_property(LIVENESS[0])).verdict is Verdict.VIOLATED
