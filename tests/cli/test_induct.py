"""``fdverify induct``: proved with its obligations, violated with a run, unknown when k may not grow enough."""

from pathlib import Path

import pytest

from tests.cli.rounds import check_rounds
from tests.cli.script import found, run

BOUNDS = ("--delta", "2", "--phi", "4")
ACCURACY = str(Path(__file__).parents[2] / "invariants" / "strong_accuracy.py")


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


@pytest.mark.slow
def test_k_too_small() -> None:
    code, document = found("induct", *BOUNDS, "--max-k", "17")
    assert (code, document["verdict"]) == (3, "unknown")
    assert document["statistics"] == {"k": 17}
    assert "not k-inductive for any k up to 17" in document["detail"]
    assert "proved" not in [obligation["verdict"] for obligation in document["obligations"]]


def test_lemmas_prove_it_for_every_delta_and_phi() -> None:
    code, document = found("induct", "--variant", "ivy", "--lemmas", ACCURACY)
    assert (code, document["verdict"]) == (0, "proved")
    assert document["statistics"] == {"k": 1}
    assert document["parameters"]["delta"] == document["parameters"]["phi"] == "symbolic"


def test_a_false_lemma_proves_nothing(tmp_path: Path) -> None:
    """The lemmas are proved along, not believed."""
    text = Path(ACCURACY).read_text().replace("delivered + 1,", "delivered - 1,")
    (tmp_path / "false.py").write_text(text)
    code, document = found("induct", "--variant", "ivy", "--lemmas", str(tmp_path / "false.py"), "--max-k", "15")
    assert (code, document["verdict"]) == (1, "not-inductive")
    assert "waits_no_longer is false in a reachable state" in document["detail"]
    assert document["trace"] is not None


def test_lemmas_do_not_save_a_detector_whose_timeout_is_too_short() -> None:
    code, document = found("induct", "--variant", "ivy", "--timeout", "1", "--lemmas", ACCURACY)
    assert code == 1
    assert document["trace"] is not None
