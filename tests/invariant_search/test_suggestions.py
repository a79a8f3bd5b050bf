"""Conjuncts that are suggested where one was dropped make a proof of what is left, and hold in other instances."""

import json
from pathlib import Path

import jsonschema
import pytest

from fdverify.engines.explore import explore
from fdverify.invariant_search.clause import AtMost, LinearSum
from fdverify.invariant_search.conjunct_suggestions import strengthen_proof
from fdverify.invariant_search.proof_vocabulary import collect_vocabulary
from fdverify.models.system import Property
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_result import ProofSuggestions
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.schemas import find_schema
from fdverify.verdict import Verdict
from tests.cli.script import Outcome, environment, run
from tests.invariant_search.dropped import broken_pairs, conjuncts, is_proved, ten, without
from tests.sampling import choose

ROOT = Path(__file__).parents[2]
NOT_RESTORED = {
    ("lasting_suspicion", "delivery_overdue"),
    ("lasting_suspicion", "waits_once_delivered"),
    ("tight_suspicion_length_tla", "message_grows_old"),
}
SAMPLED = {
    ("eventually_strong_accuracy", "trusted_once_safe"),
}


def chosen() -> list[tuple[str, str]]:
    """All ten in a full run; drawing them loads all proofs."""
    return ten() if choose(full=True, sample=False) else sorted(SAMPLED)


def found(file: str, name: str) -> ProofSuggestions:
    # On a slow machine, too, what can be found is; what is not found need not be looked for for long.
    seconds = 15.0 if (file, name) in NOT_RESTORED else 900.0
    return strengthen_proof(without(file, name), ProofSettings(jobs=1), seconds=seconds)


@pytest.mark.parametrize(("file", "name"), [pair for pair in chosen() if pair not in NOT_RESTORED])
def test_what_is_suggested_proves_it_again(file: str, name: str) -> None:
    assert not is_proved(without(file, name))
    suggested = found(file, name)
    check_elsewhere(file, name, suggested)
    best = suggested.suggestions[0]
    assert best.proves
    assert suggested.remark == ""
    case = without(file, name)
    proof = case.load().proof
    for number, conjunct in enumerate(best.conjuncts):
        names: dict[str, object] = {}
        exec("\n".join(best.imports), names)
        exec(compile(conjunct.source.replace("@proof.invariant\n", ""), f"{file}-{number}.py", "exec"), names)
        proof.invariant(names[conjunct.name])  # type: ignore[type-var]
    (result,) = check_proofs([proof], ProofSettings(jobs=1, cache=False))
    assert result.verdict is Verdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize(("file", "name"), sorted(NOT_RESTORED))
def test_where_nothing_proves_it_that_is_said(file: str, name: str) -> None:
    assert not is_proved(without(file, name))
    suggested = found(file, name)
    check_elsewhere(file, name, suggested)
    assert not any(suggestion.proves for suggestion in suggested.suggestions)
    assert suggested.remark.startswith("no conjuncts were found")


def test_most_of_the_ten_are_restored() -> None:
    assert len(ten()) == 10
    assert set(ten()) >= NOT_RESTORED
    assert len(NOT_RESTORED) <= 3


def check_elsewhere(file: str, name: str, suggested: ProofSuggestions) -> None:
    """Suggestions hold in an instance that nothing was learned from."""
    system = without(file, name).load().invariant.system
    fixed = system.fix_parameters(
        {"delta": 4, "phi": 2, **({"initial_timeout": 5} if "initial_timeout" in system.list_arbitrary() else {})}
    )
    if system.assumptions:
        fixed = system.fix_parameters({"delta": 4, "phi": 2, "initial_timeout": 17})
    names: dict[str, object] = {}
    for suggestion in suggested.suggestions:
        exec("\n".join(suggestion.imports), names)
        for conjunct in suggestion.conjuncts:
            holds = eval(f"lambda s: {conjunct.formula}", names)
            claim = Property(conjunct.name, holds, "")
            assert explore(fixed, claim, depth=40).verdict in (Verdict.BOUNDED, Verdict.PROVED), conjunct.formula


@pytest.mark.slow
def test_the_ten_are_drawn_from_all_that_a_proof_needs() -> None:
    needed = {pair for pair in conjuncts() if not is_proved(without(*pair))}
    assert sorted(needed) == broken_pairs()


_TOLD = '''
from fdverify.logic import And, Implies, Not, Truth
from fdverify.models.system import State
from fdverify.proofs import Proof

proof = Proof("chandra-toueg", crash=True)


@proof.goal
def only_old(s: State) -> Truth:
    """Only old messages."""
    return Implies(s.hlfsc >= s.delta{more}, Not(s.buffer.any(0, s.delta - 1)))


@proof.invariant
def only_old_messages(s: State) -> Truth:
    """The same."""
    return only_old(s)
'''


def verify(*arguments: str, folder: Path) -> Outcome:
    return run(*arguments, name="verify-invariant", env=environment(XDG_CACHE_HOME=str(folder / "cache")))


@pytest.mark.slow
def test_what_is_printed_can_be_pasted_and_is_then_proved(tmp_path: Path) -> None:
    path = tmp_path / "told.py"
    path.write_text(_TOLD.replace("{more}", ""))
    done = verify(str(path), "--suggest", "--json", folder=tmp_path)
    assert done.code == 1  # what is suggested changes nothing about the proof as it is
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads(find_schema("proofs")))
    (proof,) = document["proofs"]
    best = proof["suggestions"][0]
    assert best["proves"]
    assert best["unproved"] == []
    assert proof["suggestion_note"] is None
    text = verify(str(path), "--suggest", folder=tmp_path).stdout
    assert "suggest: add" in text
    assert all(line in text for conjunct in best["conjuncts"] for line in conjunct["source"].splitlines())
    added = "\n\n".join(conjunct["source"] for conjunct in best["conjuncts"])
    path.write_text("\n".join([*best["imports"], path.read_text(), "", added]))
    assert verify(str(path), folder=tmp_path).code == 0


def test_a_conjunct_that_is_wrong_is_not_helped(tmp_path: Path) -> None:
    path = tmp_path / "told.py"
    path.write_text(_TOLD.replace("{more}", " - 2"))
    done = verify(str(path), "--suggest", "--json", folder=tmp_path)
    assert done.code == 1
    (proof,) = json.loads(done.stdout)["proofs"]
    assert proof["suggestions"] == []
    assert proof["suggestion_note"].endswith("is false in a reachable state: no conjunct can help, it is wrong itself")


@pytest.mark.slow
def test_without_the_option_nothing_is_suggested(tmp_path: Path) -> None:
    (proof,) = json.loads(verify(str(ROOT / "examples/first_attempt.py"), "--json", folder=tmp_path).stdout)["proofs"]
    assert proof["suggestions"] == []
    assert proof["suggestion_note"] is None


def test_words_are_read_out_of_a_proof() -> None:
    case = without("strong_completeness_any_timeout", "waits_once_delivered")
    known = collect_vocabulary(case.load().invariant)
    waited = LinearSum.from_coefficients({"delta": 1, "phi": 3, "phi*timeout": 1})
    assert any(isinstance(word, AtMost) and waited.subtract(word.left).coefficients == () for word in known)
    assert not any("phi*waiting_time" in str(word) for word in known)
