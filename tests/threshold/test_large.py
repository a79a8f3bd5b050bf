"""An automaton as large as those of consensus algorithms with many messages: it is decided, whatever it takes."""

from pathlib import Path

import pytest

from fdverify.models.loading import load_module
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.text.read import parse_automaton
from fdverify.verdict import Verdict
from tests.sampling import every
from tests.threshold.small import found

GENERATOR = load_module(Path(__file__).parents[2] / "benchmarks" / "large_automaton.py")


@pytest.fixture(scope="module")
def automaton() -> Automaton:
    return parse_automaton(GENERATOR.generate_automaton(locations=100, rules=1300), "large.ta")


def test_it_has_the_size_that_is_said(automaton: Automaton) -> None:
    assert (len(automaton.locations), len(automaton.rules)) == (100, 1300)
    assert len({rule.guard for rule in automaton.rules}) == 11  # true, and ten others


@pytest.mark.parametrize("name", every(3, ["agreement", "unforgeability", "correctness"]))
def test_what_holds_is_proved(automaton: Automaton, name: str) -> None:
    assert found(automaton, name).verdict is Verdict.PROVED


@pytest.mark.slow
def test_what_does_not_hold_is_shown(automaton: Automaton) -> None:
    """One is helped by faulty processes to decide, and the others wait for ever."""
    assert found(automaton, "relay").verdict is Verdict.VIOLATED
