"""Obligations one at a time: the same as all at once, and no less suspicious."""

import os
import signal
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fdverify.errors import InternalError, UsageError
from fdverify.obligations.inductive import build_obligations, outline_obligations
from fdverify.obligations.obligation import VACUITY
from fdverify.proofs import tasks
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.session import ProofSession
from fdverify.smt.script import Decision
from fdverify.verdict import Verdict
from tests.cli import written_proofs as files
from tests.sampling import every

SHIPPED = sorted((Path(__file__).parents[2] / "invariants").rglob("[!_]*.py"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("path", "k"), every(5, product(SHIPPED, (1, 2))))
def test_the_outline_is_what_is_made(path: Path, k: int) -> None:
    invariant = load_proof(path).build_invariant({}, {}, k)
    outlined = [(each.name, each.kind, each.about) for each in outline_obligations(invariant)]
    made = [(each.name, each.kind, each.about) for each in build_obligations(invariant)]
    assert outlined[: len(made)] == made
    assert [name for name, _, _ in outlined[len(made) :]] == ["assumptions", "phases", "goal-premise", "no-dead-end"]
    assert len({name for name, _, _ in outlined}) == len(outlined)


@pytest.mark.parametrize("jobs", every(2, [2, 1]))
@pytest.mark.parametrize("text", every(3, [files.GOOD, files.NOT_INDUCTIVE, files.VIOLATED, files.VACUOUS_PREMISE]))
def test_one_by_one_as_all_at_once(tmp_path: Path, text: str, jobs: int) -> None:
    path = written(tmp_path, text)
    (together,) = check_proofs([path], ProofSettings(jobs=1, cache=False))
    names = [checked.question.name for checked in together.checked]
    likely = [] if jobs == 1 else [*names, *VACUITY]
    alone = ProofSession(path, ProofSettings(jobs=jobs, cache=False), likely)
    try:
        found = {name: alone.check_obligation(name) for name in reversed(names)}
        vacuity = alone.check_vacuity()
    finally:
        alone.close()
    verdicts = {name: checked.verdict for name, checked in found.items()}
    verdicts |= {each.name: each.verdict for each in vacuity.obligations}
    assert verdicts == {each.name: each.verdict for each in together.obligations}
    for checked in together.checked:
        assert found[checked.question.name].broken == checked.broken, "the same step, and the same run"


def test_nothing_is_decided_that_was_not_asked_for(tmp_path: Path) -> None:
    alone = ProofSession(written(tmp_path, files.NOT_INDUCTIVE), ProofSettings(jobs=1))
    try:
        assert alone.check_obligation("trusted-step").verdict is Verdict.PROVED
        decided = [checked for checked in alone.result.checked if checked.verdict is not None]
    finally:
        alone.close()
    assert [checked.question.name for checked in decided] == ["trusted-step"]


def test_only_what_is_likely_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "decide_obligation", dies)
    session = ProofSession(written(tmp_path, files.NOT_INDUCTIVE), ProofSettings(jobs=1, cache=False), ["trusted-step"])
    try:
        assert session.result.vacuity is None
        assert session.check_obligation("trusted-step").verdict is Verdict.PROVED, "it was proved at once"
        assert session.check_obligation("trusted-init").verdict is Verdict.UNKNOWN, "it was not"
    finally:
        session.close()


@pytest.mark.parametrize("stage", ["prove_obligations", "compare_and_check_vacuity"])
@pytest.mark.parametrize("ends", ["dies", pytest.param("waits", marks=pytest.mark.slow)])
def test_what_was_tried_in_vain_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, ends: str
) -> None:
    """The functions are compared in any case, and obligations are decided one by one."""
    monkeypatch.setattr(tasks, stage, {"dies": dies, "waits": waits}[ends])
    settings = ProofSettings(jobs=2, cache=False, time_limit=4 if ends == "waits" else None)
    session = ProofSession(written(tmp_path, files.GOOD), settings, ["bounded-step", *VACUITY])
    try:
        assert session.result.author_code is not None
        assert session.check_obligation("bounded-step").verdict is Verdict.PROVED
        assert session.check_obligation("bounded-init").verdict is Verdict.PROVED
    finally:
        session.close()


def dies(*arguments: object, **more: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def waits(*arguments: object, **more: object) -> None:
    time.sleep(600)


def test_an_interrupted_question_does_not_hinder_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a plugin does that ends a test which takes too long."""

    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    alone = ProofSession(written(tmp_path, files.NOT_INDUCTIVE), ProofSettings(jobs=1))
    try:
        with monkeypatch.context() as patched:
            patched.setattr("fdverify.workers.pool.Pool.run_tasks", interrupted)
            with pytest.raises(KeyboardInterrupt):
                alone.check_obligation("trusted-step")
        assert alone.check_obligation("waits-step").verdict is Verdict.NOT_INDUCTIVE
        assert alone.check_obligation("trusted-step").verdict is Verdict.PROVED
    finally:
        alone.close()


def says_unsat(script: Any, root: Any, seed: int = 0) -> Decision:
    return Decision("unsat")


def test_a_proof_of_what_a_run_refutes_is_an_internal_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a solver that proves everything: a claim that is false in a reached state gives it away."""
    monkeypatch.setattr(tasks, "decide_obligation", says_unsat)
    false = files.GOOD.replace("s.receiver_timer < s.phi", "s.waiting_time < 1")
    alone = ProofSession(written(tmp_path, false), ProofSettings(jobs=1, cache=False))
    try:
        assert alone.check_obligation("bounded-step").verdict is Verdict.PROVED, "it is believed at first"
        with pytest.raises(InternalError, match="is false in a reachable state"):
            alone.check_vacuity()
    finally:
        alone.close()


def test_a_bad_file_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a truth value"):
        ProofSession(written(tmp_path, files.RETURNS_INT), ProofSettings(jobs=1))
