"""``fdverify bounds`` at given numbers says what a plain search finds, of every model that comes with the package."""

from itertools import product
from pathlib import Path

import pytest

from fdverify.bounds.suspicion_counts import find_largest_counts
from fdverify.detectors.model_catalogue import find_model
from tests.cli.script import run
from tests.no_wrong_answers.bounds.numbers import (
    CUT,
    LONGEST,
    Expected,
    expected,
    instance_of,
    refused_by_explore,
    told,
)
from tests.no_wrong_answers.bounds.oracle import Instance, searched, wrong_suspicions
from tests.sampling import choose, every

EXAMPLES = Path(__file__).parents[3] / "examples"
BROKEN = (
    "LOSSY",
    "SLEEPY_RECEIVER",
    "LATE_SENDER",
    "HASTY_RECEIVER",
    "STUBBORN",
    "TRUSTING",
    "LAZY_RECEIVER",
    "FORGETFUL",
    "STOPPING",
    "LATE_AGEING",
)
PAIRS = [{"delta": delta, "phi": phi} for delta, phi in ((0, 1), (1, 1), (2, 1), (3, 1), (0, 2), (1, 2))]
TRIPLES = [
    {"delta": delta, "phi": phi, "gst": gst}
    for delta, phi, gst in ((0, 1, 0), (1, 1, 0), (0, 1, 2), (1, 1, 1), (1, 1, 2), (0, 2, 1))
]
CASES = [
    *product([f"{EXAMPLES / 'broken_detectors.py'}:{name}" for name in BROKEN], [{}, {"variant": "ivy"}], PAIRS),
    *product(["chandra-toueg"], [{}, {"variant": "ivy"}], PAIRS),
    *product([f"{EXAMPLES / 'gst' / '_detector.py'}:{name}" for name in ("DELAYED", "LOSSY")], [{}], TRIPLES),
    *product([f"{EXAMPLES / 'ping_pong' / '_ping_pong.py'}:PING_PONG"], [{}], PAIRS),
    *product([f"{EXAMPLES / 'doubling' / '_doubling.py'}:DOUBLING"], [{}], PAIRS),
]


def named(case: tuple[str, dict[str, str], dict[str, int]]) -> str:
    reference, options, numbers = case
    return "-".join([reference.rpartition(":")[2].lower(), *options.values(), *map(str, numbers.values())])


@pytest.mark.parametrize("case", every(20, CASES), ids=named)
def test_the_numbers_are_those_of_a_plain_search(case: tuple[str, dict[str, str], dict[str, int]]) -> None:
    reference, options, numbers = case
    answer = told(reference, numbers, options, LONGEST)
    if "above its cap" in answer.why:
        assert answer.why == refused_by_explore(reference, numbers, options)
    else:
        assert answer == expected(reference, numbers, options, LONGEST)


@pytest.mark.slow
def test_all_timeouts_that_are_met_count() -> None:
    forgetful = f"{EXAMPLES / 'broken_detectors.py'}:FORGETFUL"
    assert told(forgetful, {"delta": 1, "phi": 1}, {}, LONGEST) == Expected(4, 5)


@pytest.mark.parametrize("name", choose(full=BROKEN, sample=("STUBBORN", "LATE_SENDER")))
@pytest.mark.parametrize("timeout", [1, 2, 4])
def test_wrong_suspicions_are_counted(name: str, timeout: int) -> None:
    model = find_model(f"{EXAMPLES / 'broken_detectors.py'}:{name}")
    if name in ("STOPPING", "LOSSY"):
        pytest.skip("a dead end, and a timeout that grows for ever")
    system = instance_of(model, {"delta": 1, "phi": 1}, timeout, {"crash": False})
    graph = searched(Instance(system, CUT))
    assert tuple(find_largest_counts(system).values()) == wrong_suspicions(graph, 64)


@pytest.mark.slow
def test_the_numbers_of_a_new_model_are_those_of_a_plain_search(tmp_path: Path) -> None:
    assert run("new", "model", "heartbeat", cwd=tmp_path).code == 0
    for delta, period in every(2, [(0, 1), (1, 2), (3, 1), (0, 3), (2, 2), (1, 4)]):
        reference, numbers = f"{tmp_path / 'heartbeat.py'}:DETECTOR", {"delta": delta, "period": period}
        answer = told(reference, numbers, {}, LONGEST)
        assert answer == expected(reference, numbers, {}, LONGEST)
        assert answer.timeout == delta + period
