"""Rounds of an author's own that mean something else of numbers than of symbols: refused, with the place."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fdverify.cutoff.round_agreement import compare_rounds
from fdverify.cutoff.rounds import Choices, Configuration, Index, Interpretation, Kind, Rounds, Step
from fdverify.errors import UsageError
from fdverify.logic import And, If, Implies, Truth
from fdverify.models.loading import load_module

CALLS: list[int] = []
ONE = 1


def with_rule(rule: Callable[[Choices, Index, Index], Any]) -> Rounds:
    """Rounds with one more rule of scheduling."""

    class Ruled(Rounds):
        def schedule(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
            step = super().schedule(of, c, chosen)
            return replace(step, rules={**step.rules, "own": lambda p, q: rule(chosen, p, q)})

    return Ruled()


def changing(chosen: Choices, p: Index, q: Index) -> Truth:
    CALLS.append(1)
    return chosen.crash(p) if len(CALLS) % 3 else chosen.crash(q)


SLIPS: dict[str, Callable[[Choices, Index, Index], Any]] = {
    "one index is another": lambda chosen, p, q: Implies(chosen.crash(p), p is q),
    "an index is one": lambda chosen, p, q: True if p is ONE else chosen.schedule(p),
    "type of an index": lambda chosen, p, q: isinstance(p, int),
    "text of an index": lambda chosen, p, q: f"{p}" != "2",
    "identity of a choice": lambda chosen, p, q: chosen.crash(p) is False,
    "memory": changing,
    "hasattr": lambda chosen, p, q: If(chosen.crash(p), hasattr(q, "term"), True),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_rule_that_means_two_things_is_refused(slip: str) -> None:
    CALLS.clear()
    with pytest.raises(UsageError, match=r"test_cutoff_rounds.py:\d+: schedule of Ruled "):
        compare_rounds(with_rule(SLIPS[slip]))


class RemembersLocations(Rounds):
    def __init__(self) -> None:
        self.asked = 0

    def enabled(self, of: Interpretation, c: Configuration, p: Index, kind: Kind) -> Truth:
        self.asked += 1
        return And(c.active(p), of.is_kind(c.location(p), kind), self.asked % 2 == 0)


class ComparesBuffers(Rounds):
    def receive(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        step = super().receive(of, c, chosen)
        known, heard = c.value, step.after.value
        return replace(step, after=replace(step.after, value=lambda p, q: known(p, q) if p is q else heard(p, q)))


class StartsOtherwise(Rounds):
    def begin(self, of: Interpretation, some: Any) -> Configuration:
        begun = super().begin(of, some)
        return replace(begun, active=lambda p: isinstance(p, int))


@pytest.mark.parametrize("rounds", [RemembersLocations, ComparesBuffers, StartsOtherwise])
def test_a_sub_round_that_means_two_things_is_refused(rounds: type[Rounds]) -> None:
    with pytest.raises(UsageError, match=rf"test_cutoff_rounds.py:\d+: \w+ of {rounds.__name__} "):
        compare_rounds(rounds())


class AsTheClass(Rounds):
    """Nothing of its own."""


EXAMPLES = load_module(Path(__file__).parents[3] / "examples" / "broken_rounds.py")


@pytest.mark.parametrize("rounds", [Rounds, AsTheClass, EXAMPLES.FavoursFirst, EXAMPLES.CountsPeers])
def test_honest_rounds_mean_the_same(rounds: type[Rounds]) -> None:
    compare_rounds(rounds())


def test_an_honest_rule_passes() -> None:
    compare_rounds(with_rule(lambda chosen, p, q: Implies(chosen.crash(p), p == q)))


def test_the_command_refuses_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from fdverify.app import run

    (tmp_path / "identical.py").write_text(
        "from dataclasses import replace\n\n"
        "from fdverify.cutoff.chandra_toueg_template import chandra_toueg\n"
        "from fdverify.cutoff.rounds import Rounds\n\n\n"
        "class Identical(Rounds):\n"
        "    def schedule(self, of, c, chosen):\n"
        "        step = super().schedule(of, c, chosen)\n"
        "        own = lambda p, q: p is q or True\n"
        "        return replace(step, rules={**step.rules, 'own': lambda p, q: p is not q or own(p, q) is p})\n\n\n"
        "MINE = replace(chandra_toueg(), name='mine', rounds=Identical())\n"
    )
    assert run(["cutoff", f"{tmp_path / 'identical.py'}:MINE"]) == 2
    assert "identical.py:" in capfd.readouterr().err
