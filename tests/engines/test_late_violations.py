"""A late violation is found with symbolic parameters as early as with numbers, and with the smallest ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.logic import Implies, Not, Truth
from fdverify.models.system import State, System
from fdverify.runs.run import Run, replay_run
from fdverify.verdict import Result, Verdict
from tests.engines.small import counter, up_to_limit
from tests.engines.test_exact_ages import system as build_mail
from tests.sampling import every


def find_run(result: Result) -> Run:
    assert result.verdict is Verdict.VIOLATED, result.detail
    assert result.run is not None
    return result.run


def search(system: System, depth: int) -> Result:
    return bmc(system, system.properties[0], depth)


def check_shortest(symbolic: System, build_fixed: Callable[[int], System], name: str, length: int) -> Run:
    """A run of this length is found, no shorter one, and none with a smaller parameter."""
    assert search(symbolic, length - 1).verdict is Verdict.BOUNDED
    run = find_run(search(symbolic, length + 3))
    assert len(run.rounds) == length
    assert symbolic.properties[0].holds(replay_run(symbolic, run).last) is False
    for value in range(run.parameters[name] + 1):
        fixed = build_fixed(value)
        found = search(fixed, length)
        assert found.verdict is (Verdict.VIOLATED if value == run.parameters[name] else Verdict.BOUNDED)
    return run


@pytest.mark.parametrize("length", every(2, [15, 25]))
def test_a_counter_that_reaches_its_limit(length: int) -> None:
    def build(limit: int | None) -> System:
        return counter(up_to_limit, lambda s: s.x < length, limit=limit)

    run = check_shortest(build(None), build, "limit", length)
    assert run.parameters == {"limit": length}
    assert len(find_run(explore(build(length), build(length).properties[0])).rounds) == length


AGES: dict[str, tuple[Callable[[State], Truth], int, int]] = {
    "a number": (lambda s: Not(s.buffer.has(14)), 15, 14),
    "the largest": (lambda s: Implies(s.delta >= 13, Not(s.buffer.has(s.delta))), 14, 13),
    "a range": (lambda s: Not(s.buffer.any(14, s.delta - 2)), 15, 16),
    "one below the largest": (lambda s: Implies(s.delta >= 15, Not(s.buffer.has(s.delta - 1))), 15, 15),
    "two of them": (lambda s: Implies(s.buffer.has(14), s.buffer.single()), 15, 14),
}


@pytest.mark.parametrize(("holds", "length", "delta"), every(5, AGES.values()), ids=every(5, AGES))
def test_a_message_that_grows_old(holds: Callable[[State], Truth], length: int, delta: int) -> None:
    run = check_shortest(build_mail(holds), lambda value: build_mail(holds, value), "delta", length)
    assert run.parameters == {"delta": delta}


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "timeout", "safe"), [("tla", "3*phi+delta-1", 2), ("ivy", "3*phi+delta", 0)])
def test_a_timeout_that_is_one_too_short(variant: str, timeout: str, safe: int) -> None:
    """With one Δ of three it is just long enough, and with the others the first run is as long as with numbers."""

    def build(delta: int | None) -> System:
        return build_chandra_toueg(delta, 5, variant=variant, timeout=timeout)

    runs = {}
    for delta in range(3):
        fixed = build(delta)
        runs[delta] = explore(fixed, fixed.find_property("strong-accuracy")).run
    lengths = {delta: len(run.rounds) for delta, run in runs.items() if run is not None}
    assert set(lengths) == {0, 1, 2} - {safe}
    symbolic = build(None)
    claim = symbolic.find_property("strong-accuracy")
    run = find_run(bmc(symbolic, claim, max(lengths.values())))
    assert len(run.rounds) == min(lengths.values()) >= 15
    assert run.parameters["delta"] == min(lengths, key=lambda delta: (lengths[delta], delta))
    assert bmc(symbolic, claim, len(run.rounds) - 1).verdict is Verdict.BOUNDED
