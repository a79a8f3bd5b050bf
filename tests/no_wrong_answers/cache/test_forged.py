"""A cache that somebody else has written proves nothing, whatever it says."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from shutil import copytree

import pytest
import z3

from fdverify.cache import signed_records, signing
from fdverify.smt import proof_cache as cache_module
from fdverify.smt.decide import decide_script
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.proof_cache import ProofCache
from fdverify.smt.script import Decision, Script

X, Y = z3.Ints("x y")
MINE, THEIRS = "k" * 32, "another key that is long enough"


def script(hypotheses: list[z3.BoolRef], negated: z3.BoolRef) -> Script:
    texts = print_assertions([X == Y + 1, *hypotheses, negated])
    return Script("test", (texts[0],), tuple(texts[1:-1]), texts[-1])


TRUE = script([Y > 0], X < 1)
FALSE = script([Y > 0], X < 5)
"""What its negated conclusion contradicts is not so: y may be 1."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(signing.KEY_VARIABLE, MINE)


def key_of(question: Script) -> str:
    return cache_module._compute_key(question)


def place(root: Path, question: Script) -> Path:
    name = key_of(question)
    path = root / "proved" / name[:2] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def with_checksum(question: Script, content: str) -> str:
    """As entries were written when a checksum without a key was enough."""
    checksum = sha256(f"{key_of(question)}\n{content}".encode()).hexdigest()
    return f"{checksum}\n{content}\n"


def signed(question: Script, content: str, kind: str = "proved") -> str:
    payload = f"{key_of(question)}\n{content}".encode()
    return f"{signing.sign_record(kind, payload)}\n{content}\n"


CORES = {
    "an empty core": lambda question: [[]],
    "no core": lambda question: [],
    "hypotheses only": lambda question: [[a.fingerprint for a in question.hypotheses]],
    "the step only": lambda question: [[a.fingerprint for a in question.step]],
    "the conclusion of another": lambda question: [[TRUE.negated.fingerprint]],
    "all of it": lambda question: [[a.fingerprint for a in (*question.hypotheses, question.negated)]],
}


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_a_checksum_is_no_signature(core: Callable[[Script], list[list[str]]], tmp_path: Path) -> None:
    assert decide_script(FALSE).status == "sat"
    place(tmp_path, FALSE).write_text(with_checksum(FALSE, json.dumps(core(FALSE))))
    assert not ProofCache(tmp_path).has_proof(FALSE)


@pytest.mark.parametrize("core", [core for name, core in CORES.items() if name != "all of it"])
def test_a_core_without_the_negated_claim_is_none_even_if_signed(
    core: Callable[[Script], list[list[str]]], tmp_path: Path
) -> None:
    place(tmp_path, FALSE).write_text(signed(FALSE, json.dumps(core(FALSE))))
    assert not ProofCache(tmp_path).has_proof(FALSE)


def test_contradictory_hypotheses_are_not_remembered(tmp_path: Path) -> None:
    """They prove everything; found out anew each time, they are never taken for a proof of a claim."""
    question = script([Y > 0, Y < 0], X < 1000)
    decision = decide_script(question)
    assert decision.status == "unsat"
    assert not decision.needs_negated
    ProofCache(tmp_path).record_proof(question, decision)
    assert not ProofCache(tmp_path).has_proof(question)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_claim_that_needs_no_hypothesis_is_remembered(tmp_path: Path) -> None:
    question = script([Y > 0], X != Y + 1)
    decision = decide_script(question)
    assert (decision.status, decision.core, decision.needs_negated) == ("unsat", (), True)
    ProofCache(tmp_path).record_proof(question, decision)
    assert ProofCache(tmp_path).has_proof(question)
    assert ProofCache(tmp_path).has_proof(script([], X != Y + 1))


def test_another_key_is_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ProofCache(tmp_path).record_proof(TRUE, decide_script(TRUE))
    assert ProofCache(tmp_path).has_proof(TRUE)
    monkeypatch.setenv(signing.KEY_VARIABLE, THEIRS)
    assert not ProofCache(tmp_path).has_proof(TRUE)
    ProofCache(tmp_path).record_proof(TRUE, decide_script(TRUE))
    assert ProofCache(tmp_path).has_proof(TRUE), "an entry of another key is replaced"
    monkeypatch.setenv(signing.KEY_VARIABLE, MINE)
    assert not ProofCache(tmp_path).has_proof(TRUE)


def test_another_version_is_another_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ProofCache(tmp_path).record_proof(TRUE, decide_script(TRUE))
    monkeypatch.setattr(signing, "__version__", "0.0.0")
    assert not ProofCache(tmp_path).has_proof(TRUE)


@pytest.mark.parametrize("kind", ["map", "passed", "", "proved ", "Proved"])
def test_what_is_signed_as_one_kind_is_not_taken_for_another(kind: str, tmp_path: Path) -> None:
    core = json.dumps([[FALSE.negated.fingerprint]])
    place(tmp_path, FALSE).write_text(signed(FALSE, core, kind))
    assert not ProofCache(tmp_path).has_proof(FALSE)
    place(tmp_path, FALSE).write_text(signed(FALSE, core))
    assert ProofCache(tmp_path).has_proof(FALSE), "so that it is the kind that matters"


def test_parts_of_a_signed_text_cannot_be_moved() -> None:
    whole = signing.sign_record("ab", b"c")
    assert whole is not None
    assert signing.is_signed("ab", b"c", whole)
    assert not signing.is_signed("a", b"bc", whole)
    assert not signing.is_signed("abc", b"", whole)
    plain = hmac.new(MINE.encode(), b"abc", "sha256").hexdigest()
    assert not signing.is_signed("ab", b"c", plain)


@pytest.mark.parametrize("signature", ["", "0" * 64, "é" * 64, "\udcff", "0" * 63, " "])
def test_what_is_no_signature(signature: str) -> None:
    assert not signing.is_signed("proved", b"", signature)


def test_an_entry_under_the_name_of_another(tmp_path: Path) -> None:
    ProofCache(tmp_path).record_proof(TRUE, decide_script(TRUE))
    place(tmp_path, FALSE).write_bytes(place(tmp_path, TRUE).read_bytes())
    assert not ProofCache(tmp_path).has_proof(FALSE)


def test_a_signed_entry_with_another_core(tmp_path: Path) -> None:
    ProofCache(tmp_path).record_proof(TRUE, decide_script(TRUE))
    path = place(tmp_path, TRUE)
    signature, _ = path.read_text().splitlines()
    path.write_text(f"{signature}\n{json.dumps([[TRUE.negated.fingerprint]])}\n")
    assert not ProofCache(tmp_path).has_proof(TRUE)


def test_a_whole_cache_from_elsewhere_is_computed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a CI service restores it, or as somebody has left it in a folder that all may write."""
    monkeypatch.setenv(signing.KEY_VARIABLE, THEIRS)
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    ProofCache(elsewhere).record_proof(FALSE, Decision("unsat", core=(0,)))
    assert ProofCache(elsewhere).has_proof(FALSE), "what they say of themselves"
    copytree(elsewhere, here)
    monkeypatch.setenv(signing.KEY_VARIABLE, MINE)
    assert not ProofCache(here).has_proof(FALSE)


ODD: dict[str, Callable[[Path], object]] = {
    "a pipe": lambda path: os.mkfifo(path),
    "a folder": lambda path: path.mkdir(),
    "a folder with something in it": lambda path: (path / "x").mkdir(parents=True),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "no text": lambda path: path.write_bytes(bytes(range(256))),
    "very long": lambda path: path.write_bytes(b"x" * (signed_records._LONGEST_ENTRY + 1)),
    "no JSON": lambda path: path.write_text("hello\nworld\n"),
    "unreadable": lambda path: path.touch(mode=0),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_files_in_the_place_of_an_entry(odd: Callable[[Path], object], tmp_path: Path) -> None:
    odd(place(tmp_path, TRUE))
    found = ProofCache(tmp_path)
    assert not found.has_proof(TRUE)
    found.record_proof(TRUE, decide_script(TRUE))  # neither waits nor fails
    assert found.has_proof(TRUE) == (not place(tmp_path, TRUE).is_dir())


@pytest.mark.parametrize("odd", [odd for name, odd in ODD.items() if name != "a folder"])
@pytest.mark.parametrize("where", ["proved", "proved/unfinished"])
def test_odd_files_in_the_place_of_a_folder(where: str, odd: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / where).parent.mkdir(exist_ok=True)
    odd(tmp_path / where)
    found = ProofCache(tmp_path)
    found.record_proof(TRUE, decide_script(TRUE))
    assert found.has_proof(TRUE) in (True, False)


def test_files_that_a_planted_link_leads_to_are_not_swept_away(tmp_path: Path) -> None:
    """What killed processes leave is removed; a link to another folder must not turn that against its files."""
    precious = tmp_path / "home" / "thesis.tex"
    precious.parent.mkdir()
    precious.write_text("years of work")
    (tmp_path / "proved").mkdir()
    (tmp_path / "proved" / "unfinished").symlink_to(precious.parent)
    ProofCache(tmp_path).record_proof(TRUE, decide_script(TRUE))
    assert precious.read_text() == "years of work"
