"""Commands with a cache that somebody else has written, that is full, or that is to be emptied."""

from __future__ import annotations

import json
import os
import time
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

import jsonschema
import pytest

from fdverify.cache.cache_folder import LIMITS
from fdverify.cache.signed_records import RECORD_KINDS
from fdverify.cache.signing import KEY_VARIABLE
from fdverify.model_check.check_request import CheckRequest
from fdverify.obligations.inductive import build_obligations
from fdverify.proofs.proof_files import load_proof
from fdverify.schemas import find_schema
from fdverify.smt import proof_cache as cache_module
from fdverify.sweep.cell_check import digest_sources
from fdverify.verdict import Verdict
from tests.cli.script import environment, run
from tests.cli.test_verify_invariant import verify
from tests.cli.written_proofs import GOOD
from tests.sampling import every

WRONG = GOOD.replace("return s.receiver_timer < s.phi", "return s.receiver_timer + 1 < s.phi")
"""Neither is so: the receiver may be idle for longer."""
THEIRS = {KEY_VARIABLE: "the key of somebody else entirely"}
DAY = 24 * 3600


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(XDG_CACHE_HOME=str(tmp_path / "cache"), XDG_STATE_HOME=str(tmp_path / "state"))


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def proof(folder: Path, text: str) -> Path:
    path = folder / "claim.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize("core", every(2, ["nothing", "hypotheses", "everything"]))
def test_forged_entries_prove_nothing(core: str, env: dict[str, str], tmp_path: Path) -> None:
    path, root = proof(tmp_path, WRONG), tmp_path / "cache" / "fdverify" / "proved"
    for question in build_obligations(load_proof(path).build_invariant({}, {})):
        script = question.script
        hypotheses = [each.fingerprint for each in script.hypotheses]
        needed = {"nothing": [], "hypotheses": hypotheses, "everything": [*hypotheses, script.negated.fingerprint]}
        key, content = cache_module._compute_key(script), json.dumps([needed[core]])
        entry = root / key[:2] / key
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(f"{sha256(f'{key}{chr(10)}{content}'.encode()).hexdigest()}\n{content}\n")
    outcome = verify(str(path), env=env)
    assert outcome.code == 1
    assert "proved" not in outcome.stdout


def test_entries_of_another_key_are_computed_anew_and_are_no_error(env: dict[str, str], tmp_path: Path) -> None:
    path = proof(tmp_path, GOOD)
    first = verify(str(path), env={**env, **THEIRS})
    assert (first.code, "(cached)" in first.stdout) == (0, False)
    again = verify(str(path), env={**env, **THEIRS})
    assert "proved (cached)" in again.stdout
    mine = verify(str(path), env=env)
    assert (mine.code, mine.stderr, "(cached)" in mine.stdout) == (0, "", False)
    assert "proved (cached)" in verify(str(path), env=env).stdout


def test_the_verdict_says_what_is_from_the_cache(env: dict[str, str], tmp_path: Path) -> None:
    path = proof(tmp_path, GOOD)
    verify(str(path), env=env)
    for more in every(2, [("--no-cache",), ("--seed", "3"), ("--second-opinion", "cvc5")]):
        assert "(cached)" not in verify(str(path), *more, env=env).stdout
    page = tmp_path / "page.html"
    assert "proved (cached)" in verify(str(path), "--html", str(page), env=env).stdout
    assert "(cached)" in page.read_text()
    document = json.loads(verify(str(path), "--json", env=env).stdout)
    decided = [each for each in document["proofs"][0]["obligations"] if each["kind"] != "vacuity"]
    assert all(each["cached"] for each in decided)
    # One more conjunct: then something was decided in this run.
    path.write_text(f"{GOOD}\n\n@proof.invariant\ndef waits(s):\n    return s.waiting_time >= 0\n")
    assert "(cached)" not in verify(str(path), env=env).stdout


@pytest.mark.parametrize("command", ["verify", "map"])
def test_a_key_that_could_be_guessed_is_one_line(command: str, env: dict[str, str], tmp_path: Path) -> None:
    env = {**env, KEY_VARIABLE: "guess"}
    if command == "verify":
        outcome = verify(str(proof(tmp_path, GOOD)), env=env)
        assert verify(str(proof(tmp_path, GOOD)), "--no-cache", env=env).code == 0
    else:
        outcome = run("map", "--delta", "0", "--phi", "1", "--timeout", "9", env=env)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"error: {KEY_VARIABLE} must have at least 16 characters")
    assert len(outcome.stderr.splitlines()) == 1


def test_a_forged_cell_of_a_map_is_computed_anew(env: dict[str, str], tmp_path: Path) -> None:
    grid = ("--delta", "3", "--phi", "2", "--timeout", "1")
    honest = run("map", *grid, env=env)
    assert "violated at all" in honest.stdout or "violated at" in honest.stdout
    (entry,) = files(tmp_path / "cache" / "fdverify" / "map")
    _, content = entry.read_text().splitlines()
    forged = json.dumps([Verdict.PROVED, "", None, json.loads(content)[3]])
    for checksum in (
        sha256(f"{entry.name}\n{forged}".encode()).hexdigest(),
        entry.read_text().splitlines()[0],
        "0" * 64,
    ):
        entry.write_text(f"{checksum}\n{forged}\n")
        again = run("map", *grid, env=env)
        assert again.code == 0
        assert "violated at" in again.stdout
        assert "1 computed, 0 from before" in again.stdout
    assert "0 computed, 1 from before" in run("map", *grid, env=env).stdout
    assert "1 computed, 0 from before" in run("map", *grid, env={**env, **THEIRS}).stdout


def test_what_workers_answer_carries_no_signature() -> None:
    """What a worker is given and gives back is plain: the process that was asked signs."""
    import pickle

    from fdverify.sweep.cell_check import check_cell

    job = CheckRequest("explore", "chandra-toueg", {"delta": 0, "phi": 1}, {"timeout": "9"}, "strong-accuracy")
    os.environ[KEY_VARIABLE] = "the key of this process alone"
    try:
        sent, back = pickle.dumps(job), pickle.dumps(check_cell(job))
    finally:
        del os.environ[KEY_VARIABLE]
    assert b"the key of this process alone" not in sent + back
    assert set(check_cell(job).sources) >= set(digest_sources())


def aged(folder: Path, days: float) -> None:
    for path in files(folder):
        os.utime(path, (time.time() - days * DAY,) * 2)


def test_entries_that_are_not_used_go(env: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path / "cache" / "fdverify"
    path = proof(tmp_path, GOOD)
    verify(str(path), env=env)
    used = files(root / "proved")
    assert used
    unused = root / "proved" / "00" / ("00" * 32)
    unused.parent.mkdir(exist_ok=True)
    unused.write_text("from another proof")
    undecided = root / "unknown" / "old.smt2"
    undecided.parent.mkdir()
    undecided.write_text("(check-sat)")
    strange = root / "proved" / "notes.txt"
    strange.write_text("not of this tool")
    rmtree(root / "checked", ignore_errors=True)  # else the proof is known as a whole, and nothing else is used
    aged(root, 91)
    assert "proved (cached)" in verify(str(path), env=env).stdout
    assert set(used) <= set(files(root / "proved")), "what is used stays"
    assert not unused.exists()
    assert not undecided.exists()
    assert strange.exists()


def test_entries_do_not_grow_for_ever(tmp_path: Path) -> None:
    from fdverify.cache.signed_records import StorageLimits, list_records, remove_excess_files

    for number in range(30):
        name = sha256(bytes([number])).hexdigest()
        path = tmp_path / name[:2] / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x" * 100)
        os.utime(path, (time.time() - number * 60,) * 2)
    remove_excess_files(list_records(tmp_path), StorageLimits(files=20, size=10_000, seconds=DAY))
    assert len(list_records(tmp_path)) == 20
    remove_excess_files(list_records(tmp_path), StorageLimits(files=20, size=1_000, seconds=DAY))
    left = list_records(tmp_path)
    assert len(left) == 10
    remove_excess_files(left, StorageLimits(files=20, size=1_000, seconds=5 * 60 + 30))
    assert len(list_records(tmp_path)) == 6, "the last ones used are kept"


def test_every_kind_has_limits() -> None:
    assert set(LIMITS) == {*RECORD_KINDS, "unknown"}
    for limits in LIMITS.values():
        assert 0 < limits.files <= 10_000
        assert 0 < limits.size <= 64 << 20
        assert 0 < limits.seconds <= 90 * DAY


def shown(*arguments: str, env: dict[str, str]) -> Any:
    outcome = run("cache", *arguments, "--json", env=env)
    assert (outcome.code, outcome.stderr) == (0, "")
    document = json.loads(outcome.stdout)
    jsonschema.validate(document, json.loads(find_schema("cache")))
    return document


def test_the_command_shows_and_clears(env: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path / "cache" / "fdverify"
    nothing = shown(env=env)
    assert (nothing["folder"], nothing["cleared"]) == (str(root), False)
    assert all(each == {"files": 0, "bytes": 0} for each in nothing["kept"].values())
    assert nothing["key_trouble"] == "none was made yet"
    assert not root.exists(), "looking makes nothing"
    assert not (tmp_path / "state").exists()
    path = proof(tmp_path, GOOD)
    verify(str(path), env=env)
    kept = shown(env=env)
    assert kept["kept"]["proved"]["files"] == len(files(root / "proved")) > 0
    assert kept["kept"]["proved"]["bytes"] == sum(each.stat().st_size for each in files(root / "proved"))
    assert (kept["key"], kept["key_trouble"]) == (str(tmp_path / "state" / "fdverify" / "cache.key"), None)
    (root / "mine.txt").write_text("not of this tool")
    cleared = shown("--clear", env=env)
    assert (cleared["cleared"], cleared["kept"]) == (True, kept["kept"])
    assert files(root) == [root / "mine.txt"], "nothing else is removed"
    assert (tmp_path / "state" / "fdverify" / "cache.key").exists()
    assert "(cached)" not in verify(str(path), env=env).stdout
    text = run("cache", env=env)
    assert str(root) in text.stdout
    assert "cache.key" in text.stdout
    secret = (tmp_path / "state" / "fdverify" / "cache.key").read_text().split()[-1]
    assert secret not in text.stdout + json.dumps(kept), "where it is, not what it is"


def test_clearing_does_not_follow_links(env: dict[str, str], tmp_path: Path) -> None:
    precious = tmp_path / "home" / ("ab" * 32)
    precious.parent.mkdir()
    precious.write_text("years of work")
    root = tmp_path / "cache" / "fdverify"
    (root / "map").mkdir(parents=True)
    (root / "proved").symlink_to(precious.parent)
    (root / "map" / "ab").symlink_to(precious.parent)
    assert run("cache", "--clear", env=env).code == 0
    assert precious.exists()
    assert not (root / "proved").is_symlink()


@pytest.mark.parametrize("place", every(2, ["/dev/null", "/proc/nothing"]))
def test_a_cache_folder_that_is_none(place: str, env: dict[str, str], tmp_path: Path) -> None:
    env = {**env, "XDG_CACHE_HOME": place, "XDG_STATE_HOME": place}
    assert shown(env=env)["kept"]["proved"]["files"] == 0
    assert shown("--clear", env=env)["cleared"] is True
    outcome = verify(str(proof(tmp_path, GOOD)), env=env)
    assert (outcome.code, outcome.stderr) == (0, "")
