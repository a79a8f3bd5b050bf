"""What was proved before is used again exactly where it still is a proof, whatever happens to the files."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.cache import signed_records
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.proofs.proof_files import load_proof
from fdverify.smt import proof_cache as module
from fdverify.smt.decide import OPTIONS, decide_script
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.proof_cache import ProofCache
from fdverify.smt.script import Decision, Script
from fdverify.workers.worker_process import get_process_context
from tests.cli.processes import wait_until

PROOF = Path(__file__).parents[2] / "invariants" / "strong_accuracy.py"
X, Y, Z = z3.Ints("x y z")
STEP = [X == Y + 1]
NEEDED, OTHER, ANOTHER = Y > 0, Z > 0, Z < 9
NEGATED = X < 1


def script(step: Sequence[Any], hypotheses: Sequence[Any], negated: Any) -> Script:
    texts = print_assertions([*step, *hypotheses, negated])
    return Script("test", tuple(texts[: len(step)]), tuple(texts[len(step) : -1]), texts[-1])


PROVED = script(STEP, [OTHER, NEEDED], NEGATED)


@pytest.fixture
def cache(tmp_path: Path) -> ProofCache:
    """One in which a proof is remembered that needs one of two hypotheses."""
    found = ProofCache(tmp_path)
    found.record_proof(PROVED, decide_script(PROVED))
    return found


def entries(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_an_empty_cache_knows_nothing(tmp_path: Path) -> None:
    assert not ProofCache(tmp_path).has_proof(PROVED)
    assert not ProofCache(tmp_path / "missing").has_proof(PROVED)


@pytest.mark.parametrize(
    "again",
    [
        PROVED,
        script(STEP, [NEEDED], NEGATED),
        script(STEP, [NEEDED, OTHER], NEGATED),
        script(STEP, [ANOTHER, NEEDED, Z < 7], NEGATED),
        replace(PROVED, title="by another name"),
    ],
)
def test_used_again_while_what_it_needs_is_there(cache: ProofCache, again: Script) -> None:
    assert cache.has_proof(again)


@pytest.mark.parametrize(
    "changed",
    [
        script(STEP, [], NEGATED),
        script(STEP, [OTHER], NEGATED),
        script(STEP, [OTHER, Y > -1], NEGATED),
        script(STEP, [OTHER, NEEDED], X < 2),
        script([X == Y + 2], [OTHER, NEEDED], NEGATED),
        script([], [OTHER, NEEDED], NEGATED),
        script([*STEP, Z > 3], [OTHER, NEEDED], NEGATED),
    ],
)
def test_not_used_for_anything_else(cache: ProofCache, changed: Script) -> None:
    assert not cache.has_proof(changed)


def test_what_moved_from_hypothesis_to_step_is_another_question(cache: ProofCache) -> None:
    assert not cache.has_proof(script([*STEP, NEEDED], [OTHER], NEGATED))


def test_sorts_matter_though_the_text_is_the_same(tmp_path: Path) -> None:
    def equal(sort: Any) -> Script:
        p, q, r = (z3.Const(name, sort) for name in "pqr")
        return script([p == q], [q == r], z3.Not(p == r))

    numbers, flags = equal(z3.IntSort()), equal(z3.BoolSort())
    assert [a.formula for a in numbers.assertions] == [a.formula for a in flags.assertions]
    found = ProofCache(tmp_path)
    found.record_proof(numbers, decide_script(numbers))
    assert found.has_proof(numbers)
    assert not found.has_proof(flags)


def test_another_solver_or_other_options(cache: ProofCache, monkeypatch: pytest.MonkeyPatch) -> None:
    assert z3.get_version_string() in OPTIONS
    monkeypatch.setattr(module, "OPTIONS", "another")
    assert not cache.has_proof(PROVED)


@pytest.mark.parametrize("status", ["sat", "unknown"])
def test_only_proofs_are_remembered(tmp_path: Path, status: Any) -> None:
    with pytest.raises(AssertionError):
        ProofCache(tmp_path).record_proof(PROVED, Decision(status))
    assert entries(tmp_path) == []


@given(
    hypotheses=st.lists(st.integers(0, 7), min_size=1, max_size=6, unique=True),
    later=st.lists(st.integers(0, 7), max_size=6, unique=True),
)
def test_never_says_proved_of_what_is_not(
    tmp_path_factory: pytest.TempPathFactory, hypotheses: list[int], later: list[int]
) -> None:
    """x is 0 at first and at most 3 once hypotheses 0, 1, 2 are there; others say nothing about it."""
    steps = [z3.Int(f"x{k + 1}") <= z3.Int(f"x{k}") + 1 for k in range(3)]
    known = [*steps, *(z3.Int(f"z{k}") > 0 for k in range(5))]
    negated = z3.Int("x3") > 3
    first = script([z3.Int("x0") == 0], [known[k] for k in hypotheses], negated)
    second = script([z3.Int("x0") == 0], [known[k] for k in later], negated)
    found = ProofCache(tmp_path_factory.mktemp("cache"))
    decision = decide_script(first)
    if decision.status == "unsat":
        found.record_proof(first, decision)
    assert found.has_proof(second) == ({0, 1, 2} <= set(hypotheses) and {0, 1, 2} <= set(later))


def test_a_proof_without_one_of_its_conjuncts_is_not_taken_for_proved(tmp_path: Path) -> None:
    """After the whole proof was remembered, whatever the cache says of the rest is what the solver says."""
    whole = load_proof(PROOF).build_invariant({"delta": 1, "phi": 1}, {})
    found = ProofCache(tmp_path)
    for question in build_obligations(whole):
        found.record_proof(question.script, decide_script(question.script))
    refuted = 0
    for place in range(len(whole.authored)):
        rest = Invariant(whole.system, whole.goal, (*whole.authored[:place], *whole.authored[place + 1 :]))
        for question in build_obligations(rest):
            if decide_script(question.script).status != "unsat":
                refuted += 1
                assert not found.has_proof(question.script), question.name
    assert refuted > 0


def test_several_ways_to_prove_are_kept(tmp_path: Path) -> None:
    found = ProofCache(tmp_path)
    one, other = script(STEP, [Y > 0], NEGATED), script(STEP, [Y > 5], NEGATED)
    for each in (one, other):
        found.record_proof(each, Decision("unsat", core=(0,)))
    assert found.has_proof(one)
    assert found.has_proof(other)
    assert not found.has_proof(script(STEP, [OTHER], NEGATED))


def test_many_ways_do_not_make_a_file_grow_for_ever(tmp_path: Path) -> None:
    found = ProofCache(tmp_path)
    sizes = []
    for number in range(40):
        found.record_proof(script(STEP, [Y - number > 0], NEGATED), Decision("unsat", core=(0,)))
        (entry,) = entries(tmp_path)
        sizes.append(entry.stat().st_size)
    assert sizes[-1] == sizes[20]
    assert found.has_proof(script(STEP, [Y - 39 > 0], NEGATED)), "the last one is among those kept"


def test_a_core_that_names_what_is_not_there_does_not_count(tmp_path: Path) -> None:
    found = ProofCache(tmp_path)
    found.record_proof(script(STEP, [OTHER, NEEDED], NEGATED), Decision("unsat", core=(0, 1)))
    assert not found.has_proof(script(STEP, [NEEDED], NEGATED))
    assert not found.has_proof(script(STEP, [OTHER], NEGATED))
    assert not found.has_proof(script(STEP, [], NEGATED))


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut by one line": lambda content: content.splitlines(keepends=True)[0],
    "without its checksum": lambda content: content.partition(b"\n")[2],
    "one character changed": lambda content: content[:-4] + bytes([content[-4] ^ 1]) + content[-3:],
    "an empty core put in": lambda content: content.partition(b"\n")[0] + b"\n[[]]\n",
    "no text": lambda content: bytes(range(256)),
    "zeros": lambda content: bytes(4096),
    "something else": lambda content: b"hello\n",
    "lines": lambda content: b"\n" * 50,
    "twice": lambda content: content * 2,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_no_entry(cache: ProofCache, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    (entry,) = entries(tmp_path)
    entry.write_bytes(damage(entry.read_bytes()))
    assert not cache.has_proof(PROVED)
    cache.record_proof(PROVED, decide_script(PROVED))
    assert cache.has_proof(PROVED), "it is replaced by a good one"


@given(seed=st.integers(0, 2**32))
def test_random_damage_never_proves_more(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    root = tmp_path_factory.mktemp("cache")
    found, chance = ProofCache(root), random.Random(seed)
    found.record_proof(PROVED, decide_script(PROVED))
    (entry,) = entries(root)
    content = bytearray(entry.read_bytes())
    for _ in range(chance.randint(1, 4)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    entry.write_bytes(bytes(content[: chance.randint(0, len(content))]))
    assert not found.has_proof(script(STEP, [], NEGATED))
    assert not found.has_proof(script(STEP, [OTHER], NEGATED))


def test_an_entry_of_another_obligation_does_not_count(cache: ProofCache, tmp_path: Path) -> None:
    """Put in its place under the other's name, it is still about another conclusion."""
    other = script(STEP, [NEEDED], X < -1)
    (mine,) = entries(tmp_path)
    cache.record_proof(other, decide_script(other))
    (theirs,) = set(entries(tmp_path)) - {mine}
    mine.write_bytes(theirs.read_bytes())
    assert not cache.has_proof(PROVED)


def test_a_folder_in_the_place_of_an_entry(cache: ProofCache, tmp_path: Path) -> None:
    (entry,) = entries(tmp_path)
    entry.unlink()
    entry.mkdir()
    assert not cache.has_proof(PROVED)
    cache.record_proof(PROVED, decide_script(PROVED))
    assert not cache.has_proof(PROVED)


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "proved").write_text("no folder either")
    for root in (tmp_path / "file", tmp_path, Path("/dev/null"), Path("/proc/nothing")):
        found = ProofCache(root)
        found.record_proof(PROVED, decide_script(PROVED))
        assert not found.has_proof(PROVED)


def test_a_full_disk_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str, aside: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(signed_records, "write_atomically", full)
    ProofCache(tmp_path).record_proof(PROVED, decide_script(PROVED))
    assert not ProofCache(tmp_path).has_proof(PROVED)


WRITERS = 3


def write_for_ever(root: Path, number: int) -> None:
    """Remember the same obligation again and again, each time with another core."""
    found, place = ProofCache(root), 0
    crowd = script(STEP, [NEEDED, *(z3.Int(f"w{number}_{k}") > 0 for k in range(20))], NEGATED)
    while True:
        place = place % 20 + 1
        found.record_proof(crowd, Decision("unsat", core=(0, place)))


def test_writers_that_are_killed_leave_a_cache_that_can_be_read(tmp_path: Path) -> None:
    everything = [z3.Int(f"w{number}_{k}") > 0 for number in range(WRITERS) for k in range(20)]
    whole = script(STEP, [NEEDED, *everything], NEGATED)
    found = ProofCache(tmp_path)
    for turn in range(4):
        writers = [
            get_process_context().Process(target=write_for_ever, args=(tmp_path, number), daemon=True)
            for number in range(WRITERS)
        ]
        for writer in writers:
            writer.start()
        try:
            assert wait_until(lambda: found.has_proof(whole), seconds=60)
            for _ in range(100):
                assert found.has_proof(whole), "an entry is replaced as a whole"
            sleep(0.02 * turn)
        finally:
            for writer in writers:
                writer.kill()
                writer.join()
        assert found.has_proof(whole)
        assert not found.has_proof(script(STEP, everything, NEGATED))
        for entry in entries(tmp_path):
            if entry.parent.name != "unfinished":
                os.unlink(entry)
    found.record_proof(PROVED, decide_script(PROVED))
    assert len(entries(tmp_path)) == 1, "what they left is gone"


def test_what_a_living_process_has_not_finished_stays(cache: ProofCache, tmp_path: Path) -> None:
    aside = tmp_path / "proved" / "unfinished"
    mine, gone, odd = aside / f"{os.getpid()}.abc", aside / f"{2**22 + 1}.abc", aside / "odd"
    for file in (mine, gone, odd):
        file.write_text("half")
    cache.record_proof(PROVED, decide_script(PROVED))
    assert set(aside.iterdir()) == {mine}
