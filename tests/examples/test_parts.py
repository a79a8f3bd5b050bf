"""The models that the page on parts shows: each is proved, and its twin is refuted by every engine that finds runs."""

from pathlib import Path

import pytest

from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.verdict import Verdict
from tests.cli.script import found
from tests.sampling import every

FOLDER = Path(__file__).parents[2] / "examples" / "parts"
MODELS = {
    "pausing": "PAUSING",
    "fast_clock": "FAST_CLOCK",
    "ticks": "TICKS",
    "one_message": "ONE_MESSAGE",
    "heartbeat": "HEARTBEAT",
}
SMALL = {
    "pausing": ("--stall", "2"),
    "fast_clock": ("--wait", "4", "--steady", "2", "--extra", "2"),
    "ticks": ("--period", "3", "--pause", "1"),
    "one_message": ("--delta", "1", "--soonest", "0", "--stall", "1"),
    "heartbeat": ("--delta", "1", "--period", "2", "--pause", "1", "--stall", "1", "--losses", "1"),
}
TWINS = {
    "pausing": ("--limit", "stall-1"),
    "fast_clock": ("--ticks", "wait+extra-1"),
    "ticks": ("--kind", "skipping"),
    "one_message": ("--copies",),
    "heartbeat": ("--timeout", "(losses+1)*(period+pause)+delta-1"),
}
LINES = 60
"""The length that the heartbeat with period and loss has at most, with its proof."""


def reference(name: str) -> str:
    return f"{FOLDER / name}.py:{MODELS[name]}"


@pytest.mark.parametrize("name", MODELS)
def test_it_is_proved_for_all_parameters(name: str) -> None:
    (result,) = check_proofs([FOLDER / f"{name}.py"], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED


@pytest.mark.parametrize("name", every(2, MODELS))
def test_its_twin_is_refuted_by_a_run(name: str) -> None:
    for engine in ("explore", "bmc"):
        code, document = found(engine, reference(name), *SMALL[name], *TWINS[name])
        assert (code, document["verdict"]) == (1, "violated")
        assert document["trace"]


@pytest.mark.parametrize("name", every(4, MODELS))
def test_every_engine_takes_it(name: str) -> None:
    assert found("explore", reference(name), *SMALL[name])[1]["verdict"] == "proved"
    assert found("bmc", reference(name), "--depth", "4")[1]["verdict"] == "bounded"
    assert found("simulate", reference(name), *SMALL[name], "--depth", "9")[1]["verdict"] == "bounded"
    lemmas = ("--lemmas", str(FOLDER / f"{name}.py"))
    assert found("induct", reference(name), *lemmas)[1]["verdict"] == "proved"


def test_the_heartbeat_is_short() -> None:
    assert len((FOLDER / "heartbeat.py").read_text().splitlines()) <= LINES
