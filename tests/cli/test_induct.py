"""``fdverify induct``: proved with its obligations, violated with a run, unknown when k may not grow enough."""

from tests.cli.rounds import check_rounds
from tests.cli.script import found, run

BOUNDS = ("--delta", "2", "--phi", "4")


def test_proved() -> None:
    code, document = found("induct", *BOUNDS, "--max-k", "18")
    assert (code, document["verdict"]) == (0, "proved")
    assert document["statistics"] == {"k": 18}
    verdicts = {obligation["name"]: obligation["verdict"] for obligation in document["obligations"]}
    assert verdicts == {"base": "proved", "step": "proved", "no-dead-end": "proved"}
    assert all(obligation["seconds"] >= 0 for obligation in document["obligations"])
    assert document["trace"] is None


def test_violated() -> None:
    code, document = found("induct", *BOUNDS, "--timeout", "delta+1")
    assert (code, document["verdict"]) == (1, "violated")
    assert document["statistics"] == {"depth": 6}
    assert document["trace"]["steps"][-1]["state"]["suspected"]
    assert [obligation["verdict"] for obligation in document["obligations"]] == ["violated"]
    check_rounds(document["trace"])


def test_violated_as_text() -> None:
    outcome = run("induct", *BOUNDS, "--timeout", "delta+1")
    assert outcome.code == 1
    assert "\nviolated: strong-accuracy is violated after 6 rounds\n" in outcome.stdout
    assert "\n│     6 │" in outcome.stdout


def test_k_too_small() -> None:
    code, document = found("induct", *BOUNDS, "--max-k", "17")
    assert (code, document["verdict"]) == (3, "unknown")
    assert document["statistics"] == {"k": 17}
    assert "not k-inductive for any k up to 17" in document["detail"]
    assert "proved" not in [obligation["verdict"] for obligation in document["obligations"]]
