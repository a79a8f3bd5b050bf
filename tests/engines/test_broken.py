"""Detectors with one thing wrong: each engine must notice, in the property that rests on it."""

from pathlib import Path

import pytest

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.detectors.model_catalogue import find_model
from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.engines.kinduction import k_induction
from fdverify.models.system import System
from fdverify.runs.run import replay_run
from fdverify.verdict import Result, Verdict
from tests.sampling import every

EXAMPLES = Path(__file__).parents[2] / "examples" / "broken_detectors.py"

# Least timeouts that are safe, found by exploration: one less is violated.
LEAST_SAFE = {("tla", 0, 2): 6, ("tla", 2, 2): 7, ("tla", 3, 2): 9, ("ivy", 1, 2): 8}


def broken(name: str, delta: int, phi: int, **options: object) -> System:
    chosen: dict[str, object] = {"variant": "tla", "crash": False, "timeout": "6*phi+delta", "buffer": None}
    return find_model(f"{EXAMPLES}:{name}").build(delta=delta, phi=phi, **{**chosen, **options})


def refuted_by_all(system: System, name: str) -> None:
    """Explorer, search and k-induction find a violation of the same length, and its replay ends in one."""
    claim = system.find_property(name)
    refuted(system, name, [explore(system, claim), bmc(system, claim, depth=60), k_induction(system, claim, max_k=60)])


def refuted(system: System, name: str, results: list[Result]) -> None:
    claim = system.find_property(name)
    assert {r.verdict for r in results} == {Verdict.VIOLATED}
    lengths = set()
    for result in results:
        assert result.run is not None
        lengths.add(len(result.run.rounds))
        assert not claim.holds(replay_run(system, result.run).last)
    assert len(lengths) == 1


@pytest.mark.parametrize(("where", "least"), every(2, LEAST_SAFE.items()))
def test_a_timeout_one_less_than_the_least_safe_one_is_violated(where: tuple[str, int, int], least: int) -> None:
    variant, delta, phi = where
    safe = build_chandra_toueg(delta, phi, variant=variant, timeout=str(least))
    assert explore(safe, safe.find_property("strong-accuracy")).verdict is Verdict.PROVED
    refuted_by_all(build_chandra_toueg(delta, phi, variant=variant, timeout=str(least - 1)), "strong-accuracy")


@pytest.mark.parametrize(("delta", "phi"), every(3, [(0, 1), (1, 2), (2, 2)]))
def test_a_lossy_channel_breaks_accuracy_at_the_safe_timeout(delta: int, phi: int) -> None:
    refuted_by_all(broken("LOSSY", delta, phi), "strong-accuracy")


@pytest.mark.parametrize(("delta", "least"), every(2, [(0, 6), (2, 7), (3, 9)]))
def test_a_late_sender_breaks_accuracy_at_the_least_safe_timeout(delta: int, least: int) -> None:
    """It also leaves the range of its timer, sooner than the violation, which is what an induction runs into."""
    late = broken("LATE_SENDER", delta, 2, timeout=str(least))
    claim = late.find_property("strong-accuracy")
    refuted(late, "strong-accuracy", [explore(late, claim), bmc(late, claim, depth=60)])
    inducted = k_induction(late, claim, max_k=60)
    assert inducted.verdict is Verdict.NOT_INDUCTIVE
    assert "range(sender_timer) is false in a reachable state" in inducted.detail


@pytest.mark.parametrize(("delta", "least"), every(2, [(0, 6), (2, 7), (3, 9)]))
def test_a_guard_one_less_breaks_accuracy_at_the_least_safe_timeout(delta: int, least: int) -> None:
    refuted_by_all(broken("HASTY_RECEIVER", delta, 2, timeout=str(least)), "strong-accuracy")


@pytest.mark.slow
def test_receiving_before_ageing_breaks_accuracy_where_a_round_matters() -> None:
    refuted_by_all(broken("LATE_AGEING", 2, 2, timeout="7"), "strong-accuracy")
    refuted_by_all(broken("LATE_AGEING", 1, 2, timeout="8", variant="ivy"), "strong-accuracy")


@pytest.mark.parametrize(("delta", "phi"), [(0, 2), (1, 2)])
def test_a_sleepy_receiver_breaks_completeness_and_not_accuracy(delta: int, phi: int) -> None:
    """It counts its own steps, so sleeping longer never makes it suspect too early, only too late."""
    sleepy = broken("SLEEPY_RECEIVER", delta, phi, crash=True)
    assert explore(sleepy, sleepy.find_property("strong-accuracy")).verdict is Verdict.PROVED
    assert explore(sleepy, sleepy.find_property("strong-completeness")).verdict is Verdict.VIOLATED
    sound = build_chandra_toueg(delta, phi, crash=True)
    assert explore(sound, sound.find_property("strong-completeness")).verdict is Verdict.PROVED


def test_a_sleepy_receiver_leaves_the_range_of_its_timer() -> None:
    """The declared range is part of the claim: k-induction does not take it for granted."""
    sleepy = broken("SLEEPY_RECEIVER", 1, 2)
    result = k_induction(sleepy, sleepy.find_property("strong-accuracy"), max_k=20)
    assert result.verdict is Verdict.NOT_INDUCTIVE
    assert "range(receiver_timer) is false in a reachable state" in result.detail
    assert result.run is not None
    assert replay_run(sleepy, result.run).last.receiver_timer == 2
