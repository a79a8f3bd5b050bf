"""``fdverify simulate``: a run that the detector can make, the same for the same seed."""

from typing import Any

import pytest

from tests.cli.rounds import check_rounds
from tests.cli.script import found, run

BOUNDS = ("--delta", "2", "--phi", "4")


def simulated(*arguments: str) -> tuple[int, Any]:
    """The exit code and the document without the one thing that differs each time."""
    code, document = found("simulate", *BOUNDS, *arguments)
    del document["seconds"]
    return code, document


def test_same_seed_same_run() -> None:
    assert simulated("--seed", "7") == simulated("--seed", "7")


def test_default_seed_is_said() -> None:
    code, document = simulated()
    assert code == 0
    assert document["statistics"] == {"depth": 30, "seed": 0}
    assert simulated("--seed", "0") == (code, document)


def test_other_seed_other_run() -> None:
    runs = [simulated("--seed", seed)[1]["trace"] for seed in ("1", "2", "3")]
    assert runs[0] != runs[1] != runs[2] != runs[0]


@pytest.mark.parametrize("rounds", [0, 1, 40])
def test_as_many_rounds_as_asked_for(rounds: int) -> None:
    code, document = simulated("--seed", "5", "--depth", str(rounds))
    assert (code, document["verdict"]) == (0, "bounded")
    assert len(document["trace"]["steps"]) == rounds + 1
    assert f"this one run of {rounds} rounds" in document["detail"]
    check_rounds(document["trace"])


def test_finds_a_violation() -> None:
    for seed in range(20):
        code, document = simulated("--timeout", "2", "--seed", str(seed))
        check_rounds(document["trace"])
        if code == 1:
            break
    assert document["verdict"] == "violated"
    suspected = [step["state"]["suspected"] for step in document["trace"]["steps"]]
    assert suspected == [False] * (len(suspected) - 1) + [True]
    outcome = run("simulate", *BOUNDS, "--timeout", "2", "--seed", str(seed))
    assert outcome.code == 1
    assert f"violated in this run, after round {len(suspected) - 1}\n" in outcome.stdout
