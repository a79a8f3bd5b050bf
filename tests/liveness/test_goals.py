"""Liveness goals as a user meets them: the tree, the bounds, witnesses, bad input."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.script import environment, run
from tests.cli.test_verify_invariant import found, verify, written
from tests.liveness.proofs import ROOT, SUSPICION, TRUST
from tests.sampling import every

GST = ROOT / "examples" / "gst"
BROKEN = ROOT / "examples" / "broken_detectors.py"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return environment(XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")))


def proof(stem: str) -> str:
    return str(ROOT / "invariants" / f"{stem}.py")


def bounds(entry: Any) -> dict[str, str]:
    return {bound["of"]: bound["formula"] for bound in entry["bounds"]}


def test_the_report_is_a_tree_of_the_premises_that_ends_in_the_bounds(cache: dict[str, str]) -> None:
    outcome = verify(proof(TRUST), env=cache)
    assert outcome.code == 0
    lines = [line for line in outcome.stdout.splitlines() if "├──" in line or "└──" in line]
    assert outcome.stdout.startswith("proved eventual_trust: eventually always strong-accuracy: by timeout-guard\n")
    assert sum(" proved " in line for line in lines) == 15
    assert any("proved time-goes-on: every state of the invariant has a next round" in line for line in lines)
    assert "wrong suspicions: at most max(0, 6*phi + delta - initial_timeout)" in outcome.stdout
    assert "each lasts: at most 6*phi + delta - timeout - 1 rounds" in outcome.stdout
    assert "no bound (quiet runs of any length may come before it)" in outcome.stdout


@pytest.mark.slow
def test_the_document_has_the_tree(cache: dict[str, str]) -> None:
    _, document = found(proof(SUSPICION), env=cache)
    (entry,) = document["proofs"]
    lines = verify(proof(SUSPICION), env=cache).stdout.splitlines()
    for premise in entry["premises"]:
        assert f"├── {premise['verdict']} {premise['name']}: {premise['meaning']}" in lines
    assert sum(line.startswith("├── proved ") for line in lines) == len(entry["premises"]) == 11
    premises = {each["name"]: each["meaning"] for each in entry["obligations"] if each["kind"] == "premise"}
    assert premises.items() <= {each["name"]: each["meaning"] for each in entry["premises"]}.items()


@pytest.mark.slow
def test_the_bounds_are_numbers_where_the_parameters_are(cache: dict[str, str]) -> None:
    _, document = found(proof(TRUST), proof(SUSPICION), "--delta", "2", "--phi", "3", env=cache)
    trust, suspicion = document["proofs"]
    assert bounds(trust)["wrong suspicions"] == "at most max(0, 20 - initial_timeout)"
    assert bounds(suspicion) == {
        "detection": "at most 3*max(initial_timeout, 20) + 20 rounds after the crash",
        "the timeout": "at most max(initial_timeout, 20)",
    }


@pytest.mark.slow
def test_an_arbitrary_stabilisation_time(cache: dict[str, str]) -> None:
    """All four proofs."""
    code, document = found(str(GST), env=cache)
    assert code == 0
    assert [entry["verdict"] for entry in document["proofs"]] == ["proved"] * 4
    delayed, _, completeness, _ = document["proofs"]
    assert bounds(delayed)["wrong suspicions"].startswith("at most max(0, 6*phi + delta - settled_timeout)")
    assert "max(settled_timeout, 6*phi + delta)*phi" in bounds(completeness)["detection"]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "plain"), [("accuracy_delayed", TRUST), ("completeness_lossy", SUSPICION)])
def test_with_bounds_from_the_start_they_are_those_of_the_plain_detector(
    path: str, plain: str, cache: dict[str, str]
) -> None:
    _, document = found(str(GST / f"{path}.py"), "--gst", "0", env=cache)
    _, original = found(proof(plain), env=cache)
    (at_once,), (expected,) = document["proofs"], original["proofs"]
    assert at_once["verdict"] == "proved"
    assert at_once["bounds"] == expected["bounds"]


def suspects_wrongly(state: dict[str, Any]) -> bool:
    return bool(state["suspected"] and state["sender_pc"] == "Send")


@pytest.mark.slow
def test_witnesses_show_what_the_argument_is_about(cache: dict[str, str]) -> None:
    _, document = found(str(GST / "accuracy_lossy.py"), "--witness", env=cache)
    shown = {witness["shows"]: witness["run"]["steps"][-1]["state"] for witness in document["proofs"][0]["witnesses"]}
    before = shown.pop("a correct sender is suspected before the bounds hold")
    assert (suspects_wrongly(before), before["since_gst"] < 0) == (True, True)
    after = shown.pop("a correct sender is suspected after the first delivery since the bounds hold")
    assert (suspects_wrongly(after), after["since_gst"] >= 0, after["settled"]) == (True, True, True)
    retracted = shown.pop("a wrong suspicion was taken back")
    assert not retracted["suspected"]
    assert retracted["timeout"] > retracted["settled_timeout"]
    assert shown.pop("the timeout has become safe")["settled"]
    assert shown.pop("the sender crashes")["sender_pc"] == "Crashed"
    assert shown == {}


@pytest.mark.slow
def test_a_proof_without_a_wrong_suspicion_is_vacuous(tmp_path: Path, cache: dict[str, str]) -> None:
    """With the safe timeout from the start there is none: Strong Accuracy is what to prove."""
    text = Path(proof(TRUST)).read_text().replace('timeout="any"', 'timeout="6*phi+delta"')
    code, document = found(str(written(tmp_path / "proofs", trust=text)), env=cache)
    assert code == 4
    assert "there was no wrong suspicion" in document["proofs"][0]["detail"]
    assert document["proofs"][0]["bounds"] == []


@pytest.mark.slow
def test_a_broken_detector_has_its_premise_marked_with_a_step(tmp_path: Path, cache: dict[str, str]) -> None:
    text = Path(proof(TRUST)).read_text().replace('"chandra-toueg"', f'"{BROKEN}:LOSSY"')
    outcome = verify(str(written(tmp_path / "proofs", lossy=text)), env=cache)
    assert outcome.code == 1
    assert "├── not-inductive delivered-in-time: " in outcome.stdout
    assert "├── proved crash-is-final: " in outcome.stdout
    assert "without grows_until_safe, delivery_overdue, the invariant does not imply it" in outcome.stdout
    assert "delivered-in-time is false in a reachable state, after 5 rounds" in outcome.stdout
    assert "bounds" not in outcome.stdout


HEAD = """
from fdverify.proofs import Always, EventuallyAlways, LeadsTo, Proof
from fdverify.detectors.chandra_toueg import crashed, suspected
"""
TAIL = '''
@proof.invariant
def timers(s):
    """The receiver is idle for less than Φ."""
    return s.receiver_timer < s.phi
'''


def written_proof(arguments: str, rest: str = "") -> str:
    return f'{HEAD}proof = Proof("chandra-toueg", crash=True, {arguments})\n{rest}{TAIL}'


GUARD = """
@proof.term
def safe_timeout(s):
    return {}

@proof.term
def longest_quiet(s):
    return 6
"""
BAD = {
    "no reduction": (
        written_proof('goal=EventuallyAlways("strong-accuracy")'),
        r"bad.py:4: a liveness goal needs a reduction (hint: write by=\"timeout-guard\")",
    ),
    "unknown reduction": (
        written_proof('goal=EventuallyAlways("strong-accuracy"), by="timeout-gard"'),
        "bad.py:4: there is no reduction timeout-gard (hint: did you mean timeout-guard?)",
    ),
    "a reduction for another goal": (
        written_proof('goal=LeadsTo(crashed, suspected), by="timeout-guard"'),
        'bad.py:4: timeout-guard is not a reduction for LeadsTo (hint: write by="crash-clock")',
    ),
    "a reduction of a goal about states": (
        written_proof('goal=Always("strong-accuracy"), by="timeout-guard"'),
        "bad.py:4: timeout-guard reduces a liveness goal, and this goal is about states (hint: leave `by` out)",
    ),
    "no term": (
        written_proof('goal=EventuallyAlways("strong-accuracy"), by="timeout-guard"'),
        "bad.py:4: timeout-guard needs safe_timeout: the timeout at or above which a correct process is not suspected "
        "(hint: write a function of that name and decorate it with @proof.term)",
    ),
    "a term that changes": (
        written_proof('goal=EventuallyAlways("strong-accuracy"), by="timeout-guard"', GUARD.format("s.waiting_time")),
        "bad.py:8: the state has no waiting_time (hint: there are delta, phi, initial_timeout)",
    ),
    "a term that is no number": (
        written_proof('goal=EventuallyAlways("strong-accuracy"), by="timeout-guard"', GUARD.format("s.phi > 1")),
        "bad.py:6: safe_timeout returns Bool phi > 1, not a whole number",
    ),
    "a term of another reduction": (
        written_proof('goal=LeadsTo(crashed, suspected), by="crash-clock"', GUARD.format("6")),
        "bad.py:10: crash-clock needs no longest_quiet (hint: there are safe_timeout, detection)",
    ),
    "a goal that names nothing": (
        written_proof('goal=EventuallyAlways("strong-acuracy"), by="timeout-guard"', GUARD.format("6")),
        "bad.py:4: chandra-toueg has no property strong-acuracy (hint: did you mean strong-accuracy?)",
    ),
}


@pytest.mark.parametrize(("text", "says"), every(4, BAD.values()), ids=every(4, BAD))
def test_bad_input_is_one_line(text: str, says: str, tmp_path: Path, cache: dict[str, str]) -> None:
    written(tmp_path, bad=text)
    outcome = verify("bad.py", env=cache, cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.stderr == f"error: {says}".replace('\\"', '"')


def test_a_stabilisation_time_that_is_none(cache: dict[str, str]) -> None:
    outcome = verify(str(GST / "accuracy_lossy.py"), "--gst=-1", env=cache)
    assert outcome.code == 2
    assert re.fullmatch(r"error: .*accuracy_lossy\.py:5: --gst must be at least 0, got -1", outcome.stderr)
    plain = verify(proof(TRUST), "--gst", "1", env=cache)
    assert plain.code == 2
    assert plain.stderr.endswith("chandra-toueg has no --gst (hint: there are delta, phi)")


def test_the_model_of_computation_is_one_of_three() -> None:
    outcome = run("explore", "--computation", "sync", "--delta", "1", "--phi", "1")
    assert outcome.code == 2
    assert "synchrony" in outcome.stderr
    fast = run("explore", "--computation", "synchrony", "--delta", "1", "--phi", "2")
    assert fast.code == 2
    assert fast.stderr.startswith("error: synchrony requires phi = 1, got 2")
