"""Ways to a false "proved", or to another wrong answer, that were open once."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fdverify.obligations.obligation import NoCounterexample, ObligationKind, UnknownCounterexample
from fdverify.proofs import tasks
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.parallel_check import CheckProgress
from fdverify.proofs.proof_result import CheckedObligation, ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.schedule import ProofSchedule
from fdverify.smt.script import Decision
from fdverify.verdict import Verdict
from tests.cli.script import run

HEAD = '''
from fdverify.logic import And, If, Implies, Not, Or
from fdverify.models.model import Model
from fdverify.models.system import *
from fdverify.proofs import Proof


def build(delta):
    properties = (Property("p", lambda s: s.x < 0, ""),)
    return System("m", {}, (Parameter("delta", 0, delta),),
        (Variable("b", Ages("predicate", "delta"), initial=lambda s: frozenset()),
         Variable("x", Integers(), initial=lambda s: START, range=lambda s: s.x >= 0)),
        (Phase("age", lambda s, c: update(b=s.b.age(), x=NEXT)),
         Phase("send", lambda s, c: update(b=s.b.send(when=c.go)), (Flag("go"),)),), properties)


M = Model("m", "m", (Parameter("delta", 0, None),), (), "p", build)
proof = Proof(M)


def claim(s):
    CLAIM


@proof.goal
def g(s):
    """The claim."""
    return claim(s)


@proof.invariant
def i(s):
    """The same."""
    return claim(s)
'''


def checked(folder: Path, claim: str, more: str = "", start: str = "0", following: str = "s.x + 1") -> ProofResult:
    text = HEAD.replace("CLAIM", claim).replace("START", start).replace("NEXT", following)
    path = folder / "proof.py"
    path.write_text(text + more)
    (result,) = check_proofs([path], ProofSettings(cache=False, jobs=1), lambda stage: None)
    return result


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            "return And(*(s.b.forall(0, s.delta, lambda a: Not(And(s.b.has(a), s.x == n))) for n in (1, -1)))",
            "has changed since the call",
        ),
        (
            "return And(*(Not(s.b.exists(0, s.delta, lambda a: And(s.b.has(a), s.x == n))) for n in (1, -1)))",
            "has changed since the call",
        ),
        ("return s.b != frozenset()", "buffers are not compared"),
        ("return s.b == s.b", "buffers are not compared"),
        ("return bool(s.b)", "a buffer has no truth value"),
        (
            "try:\n        if s.delta >= 5 and s.x >= 1:\n            return False\n"
            "    except Exception:\n        pass\n    return True",
            "a symbolic value has no truth value",
        ),
        ("return abs(s.x) >= 0", "TypeError"),
        ("return s.y >= 0", "the state has no y"),
        ("raise SystemExit(0)", "SystemExit"),
    ],
)
def test_what_is_refused(claim: str, said: str, tmp_path: Path) -> None:
    result = checked(tmp_path, claim)
    assert result.exit_code == 2
    assert said in str(result.error)
    assert "proof.py:" in str(result.error)


@pytest.mark.parametrize("following", ["abs(s.x)", "s.y"])
def test_what_is_wrong_with_a_model_is_told_with_its_line(following: str, tmp_path: Path) -> None:
    result = checked(tmp_path, "return s.x >= 0", following=following)
    assert result.exit_code == 2
    assert "proof.py:13: " in str(result.error)


def test_the_initial_value_has_its_variables_sort(tmp_path: Path) -> None:
    result = checked(tmp_path, "return s.x >= 0", start="0.5")
    assert result.exit_code == 2
    assert "x starts as 0.5" in str(result.error)


def test_large_numbers_do_not_wrap_around(tmp_path: Path) -> None:
    """A helper whose premise is never met makes the search go on until the numbers are huge."""
    claim = "return And(s.x >= 1, Implies(s.x < 0, s.delta < 0))"
    assert checked(tmp_path, claim, start="1", following="2 * s.x").exit_code in (0, 4)
    assert checked(tmp_path, "return s.x >= 1", start="1", following="2 * s.x").verdict == "proved"


ASSUMED = '''

@proof.assumption
def assumed(s):
    """Something of Δ."""
    return ASSUMPTION
'''


def test_an_assumption_that_only_large_parameters_satisfy(tmp_path: Path) -> None:
    result = checked(tmp_path, "return s.x >= 0", ASSUMED.replace("ASSUMPTION", "s.delta >= 9"))
    assert result.verdict == "proved"
    assert result.subject is not None
    assert result.subject.assumptions == {"assumed": "Something of Δ."}


def test_contradictory_assumptions_prove_nothing(tmp_path: Path) -> None:
    contradiction = ASSUMED.replace("ASSUMPTION", "And(s.delta >= 3, s.delta * 2 < 5)")
    assert checked(tmp_path, "return s.x < 0", contradiction).verdict == "vacuous"
    path = tmp_path / "proof.py"
    outcome = run("induct", f"{path}:M", "--lemmas", str(path), "--max-k", "2")
    assert outcome.code == 4
    assert "no parameters satisfy the assumptions: assumed" in outcome.stdout


def test_an_assumption_is_told_by_induct(tmp_path: Path) -> None:
    checked(tmp_path, "return s.x >= 0", ASSUMED.replace("ASSUMPTION", "s.delta == 1"))
    path = tmp_path / "proof.py"
    text = path.read_text().replace('lambda s: s.x < 0, ""', 'lambda s: s.x >= 0, ""')
    path.write_text(text)
    outcome = run("induct", f"{path}:M", "--lemmas", str(path), "--max-k", "2")
    assert outcome.code == 0
    assert "assuming assumed" in outcome.stdout


def test_an_edit_is_seen_though_size_and_second_are_the_same(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    second = int(time.time())
    for sign, code in ((">=", 0), ("<=", 1)):
        helper.write_text(f"def holds(s):\n    return s.x {sign} 0\n")
        path = tmp_path / "proof.py"
        imported = HEAD.replace("CLAIM", "from helper import holds\n    return And(holds(s), s.x SIGN 0)")
        imported = "from helper import holds\n" + imported.replace("from helper import holds\n    ", "")
        path.write_text(imported.replace("SIGN", sign).replace("START", "0").replace("NEXT", "s.x + 1"))
        for file in (helper, path):
            os.utime(file, (second, second))
        (result,) = check_proofs([path], ProofSettings(cache=False, jobs=1), lambda stage: None)
        assert result.exit_code == code
    assert not (tmp_path / "__pycache__").exists()


IMPORTED = "import helper\n"
READ = """
from pathlib import Path
from types import SimpleNamespace

helper = SimpleNamespace()
exec(Path(__file__).with_name("helper.txt").read_text(), helper.__dict__)
"""


@pytest.mark.parametrize(("head", "name", "code"), [(IMPORTED, "helper.py", 2), (READ, "helper.txt", 3)])
def test_what_a_file_says_later_proves_nothing(head: str, name: str, code: int, tmp_path: Path) -> None:
    """A claim that is not inductive, and false after many rounds, is replaced before its failure is explained."""
    helper, path = tmp_path / name, tmp_path / "proof.py"
    helper.write_text("def holds(s):\n    return s.x != 1000001\n")
    text = HEAD.replace("CLAIM", "return helper.holds(s)").replace("START", "1").replace("NEXT", "s.x + 2")
    path.write_text(head + text)

    def change(stage: CheckProgress) -> None:
        if stage.done["vacuity"]:
            helper.write_text("def holds(s):\n    return s.x >= 0\n")

    (result,) = check_proofs([path], ProofSettings(cache=False, jobs=1), change)
    assert result.exit_code == code


def test_a_claim_that_is_gone_when_its_failure_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "proof.py"
    path.write_text(HEAD.replace("CLAIM", "return s.x != 5").replace("START", "0").replace("NEXT", "s.x + 2"))

    def rename(stage: CheckProgress) -> None:
        if stage.done["vacuity"]:
            path.write_text(path.read_text().replace("def i(s)", "def j(s)"))

    (result,) = check_proofs([path], ProofSettings(cache=False, jobs=1), rename)
    assert result.exit_code == 2
    assert "proof.py: it was changed while" in str(result.error)


def test_a_proof_in_the_second_attempt_is_confirmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "prove_obligations", proves_none)
    monkeypatch.setattr(tasks, "decide_obligation", says_sat)
    assert checked(tmp_path, "return s.x >= 0").verdict == "proved"
    monkeypatch.setattr(tasks, "confirm_proof", dies)
    result = checked(tmp_path, "return s.x >= 0")
    assert result.verdict == "unknown"
    assert "proved once, which was not confirmed: the worker process died" in result.detail


def test_a_file_that_was_not_loaded_in_time_is_not_a_bad_file(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("while True:\n    pass\n")
    checked(tmp_path, "return s.x >= 0")
    paths = [tmp_path / "endless.py", tmp_path / "proof.py"]
    results = check_proofs(paths, ProofSettings(cache=False, jobs=1, time_limit=0.5), lambda stage: None)
    assert [result.exit_code for result in results] == [3, 3]
    assert all("it was not loaded" in result.detail for result in results)


def test_what_the_second_solver_was_not_asked_is_not_agreed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate that is refuted with more ages is proved, but by one solver only."""
    monkeypatch.setattr(tasks, "prove_obligations", proves_none)
    monkeypatch.setattr(tasks, "decide_obligation", says_sat)
    monkeypatch.setattr(tasks, "ask_second_solver", says_sat)
    monkeypatch.setattr(tasks, "explain_failure", says_unbroken)
    assert checked(tmp_path, "return s.x >= 0").verdict == "proved"
    settings = ProofSettings(cache=False, jobs=1, second_opinion="cvc5")
    (result,) = check_proofs([tmp_path / "proof.py"], settings, lambda stage: None)
    assert result.verdict == "unknown"


def says_sat(*arguments: object, **more: object) -> Decision:
    return Decision("sat")


def proves_none(scripts: Sequence[object], *arguments: object) -> list[None]:
    return [None for _ in scripts]


def says_unbroken(*arguments: object) -> NoCounterexample:
    return NoCounterexample()


@pytest.mark.parametrize(
    "stages",
    [("prove_obligations", "decide_obligation"), ("compare_and_check_vacuity",), ("prepare_obligations",)],
    ids=str,
)
def test_a_worker_that_dies_proves_nothing(
    stages: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stage in stages:
        monkeypatch.setattr(tasks, stage, dies)
    assert checked(tmp_path, "return s.x >= 0").exit_code == 3


@pytest.mark.parametrize("fails", ["dies", "proves_none"])
def test_what_is_not_proved_together_is_decided_alone(
    fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "prove_obligations", globals()[fails])
    assert checked(tmp_path, "return s.x >= 0").verdict is Verdict.PROVED
    assert checked(tmp_path, "return s.x >= 1").exit_code == 1


def dies(*arguments: object, **more: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_files_of_the_same_name_keep_texts_of_their_own(tmp_path: Path) -> None:
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        checked(tmp_path / folder, "return s.x >= 0")
        paths.append(tmp_path / folder / "proof.py")
    check_proofs(paths, ProofSettings(cache=False, jobs=1, smtlib=tmp_path / "texts"), lambda stage: None)
    texts = [path.name for path in (tmp_path / "texts").iterdir()]
    assert sum(name.startswith("a-proof.") for name in texts) == sum(name.startswith("b-proof.") for name in texts) > 0
    assert len(texts) == 2 * sum(name.startswith("a-proof.") for name in texts)


@pytest.mark.slow
def test_no_place_to_keep_a_text_is_no_reason_to_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    path = tmp_path / "proof.py"
    hard = "return Not(And(s.x > 1, s.delta > 1, s.x * s.delta == 1000000016000000063))"
    path.write_text(HEAD.replace("CLAIM", hard).replace("START", "0").replace("NEXT", "s.x + 1"))
    (result,) = check_proofs([path], ProofSettings(jobs=1, time_limit=3), lambda stage: None)
    assert result.exit_code == 3
    assert all(obligation.kept is None for obligation in result.checked)


def test_why_a_premise_is_unknown_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A premise that was proved with conjuncts that failed, of which nothing is known without them."""
    question: Any = SimpleNamespace(name="stays", kind=ObligationKind.PREMISE, about="stays")
    checked = CheckedObligation(question, Verdict.PROVED)
    schedule: Any = ProofSchedule.__new__(ProofSchedule)
    schedule.result = SimpleNamespace(checked=[checked])
    monkeypatch.setattr(ProofSchedule, "_keep_undecided", lambda self, checked: None)
    schedule._record_fallen_premises(SimpleNamespace(value={"stays": UnknownCounterexample("too hard")}, lost=None))
    assert checked.verdict is Verdict.UNKNOWN
    assert checked.detail == "conjuncts fail, and it is unknown whether this premise needs them: too hard"
