"""``fdverify explore``: the published state counts, bounded search, shortest violations, fixed parameters only."""

import pytest

from tests.cli.rounds import check_rounds
from tests.cli.script import found, run
from tests.sampling import every

SAFE = ("--variant", "tla", "--phi", "4", "--timeout", "6*phi+delta", "--property", "strong-accuracy")
UNSAFE = ("--delta", "2", "--phi", "4", "--timeout", "delta+1")
PHASES = ["schedule_sender", "schedule_receiver", "age_messages", "send", "no_send", "receive", "compute"]


@pytest.mark.parametrize(("delta", "states", "depth"), [("2", 10158, 176), ("4", 16590, 183)])
@pytest.mark.parametrize("buffer", every(2, ["predicate", "counter", "bitvector"]))
def test_published_counts(buffer: str, delta: str, states: int, depth: int) -> None:
    code, document = found("explore", *SAFE, "--delta", delta, "--buffer", buffer, "--subrounds")
    assert code == 0
    assert document["verdict"] == "proved"
    assert document["statistics"] == {"states": states, "depth": depth}
    assert document["options"]["buffer"] == buffer
    assert document["trace"] is None


def test_text_says_the_same() -> None:
    outcome = run("explore", *SAFE, "--delta", "2", "--subrounds")
    assert outcome.code == 0
    verdict, *_, facts = outcome.stdout.splitlines()
    assert verdict == "proved: strong-accuracy holds in all 10158 reachable states"
    assert "chandra-toueg, variant tla, crash false, timeout 6*phi+delta, buffer bitvector" in facts
    assert "states 10158, depth 176" in facts


@pytest.mark.parametrize(("flags", "steps"), [((), "20 rounds"), (("--subrounds",), "20 sub-rounds")])
def test_depth_makes_it_bounded(flags: tuple[str, ...], steps: str) -> None:
    code, document = found("explore", *SAFE, "--delta", "2", "--depth", "20", *flags)
    assert code == 0
    assert document["verdict"] == "bounded"
    assert f"within {steps}" in document["detail"]
    assert 1 < document["statistics"]["states"] < 10158


def test_depth_beyond_the_last_state_is_a_proof() -> None:
    code, document = found("explore", *SAFE, "--delta", "2", "--subrounds", "--depth", "1000")
    assert (code, document["verdict"]) == (0, "proved")
    assert document["statistics"]["states"] == 10158


@pytest.mark.parametrize("limit", ["1KB", "1mb", "2 GB"])
def test_a_memory_limit_changes_no_answer(limit: str) -> None:
    code, document = found("explore", *SAFE, "--delta", "2", "--subrounds", "--memory-limit", limit)
    assert (code, document["statistics"]) == (0, {"states": 10158, "depth": 176})


@pytest.mark.parametrize("limit", ["", "5", "0MB", "-1GB", "2G", "1.5GB", "GB", "9999999TB", "٣MB"])
def test_a_bad_memory_limit_is_refused(limit: str) -> None:
    outcome = run("explore", *SAFE, "--delta", "2", "--memory-limit", limit)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.count("\n") == 1
    assert "a memory limit is a number and a unit" in outcome.stderr


def test_violation_in_rounds() -> None:
    code, document = found("explore", *UNSAFE)
    assert (code, document["verdict"]) == (1, "violated")
    assert [step["state"]["suspected"] for step in document["trace"]["steps"]] == [False] * 6 + [True]
    check_rounds(document["trace"])


def test_violation_in_subrounds() -> None:
    code, document = found("explore", *UNSAFE, "--subrounds")
    assert (code, document["verdict"]) == (1, "violated")
    first, *rest = document["trace"]["steps"]
    assert (first["round"], first["phase"]) == (0, None)
    assert [(step["round"], step["phase"]) for step in rest] == [(k, name) for k in range(1, 7) for name in PHASES]
    assert [step["state"]["suspected"] for step in rest] == [False] * 41 + [True]


@pytest.mark.parametrize("command", ["explore", "simulate"])
@pytest.mark.parametrize(
    ("arguments", "names"),
    every(
        2,
        [
            (("--delta", "symbolic", "--phi", "4"), "delta"),
            (("--delta", "2", "--phi", "symbolic"), "phi"),
            ((), "delta, phi"),
            (("--delta", "2", "--phi", "4", "--timeout", "any"), "initial_timeout"),
        ],
    ),
)
def test_needs_numbers(command: str, arguments: tuple[str, ...], names: str) -> None:
    outcome = run(command, *arguments)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith(f"error: {names} must be fixed for this command")
    assert outcome.stderr.count("\n") == 1


def test_a_timeout_beyond_the_machine_is_explored_exactly() -> None:
    code, document = found("explore", "--delta", "0", "--phi", "1", "--timeout", "9" * 30)
    assert code == 0
    assert document["verdict"] == "proved"
