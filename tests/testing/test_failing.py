"""What fails, and what the failure says."""

import json
import shlex
from pathlib import Path

import pytest

from tests.cli import written_proofs as files
from tests.sampling import every
from tests.testing.project import XDIST, Project, junit

ROOT = Path(__file__).parents[2]
STRONG_ACCURACY = (ROOT / "invariants" / "strong_accuracy.py").read_text()

BOUNDS_OFF_BY_ONE = [
    ("s.waiting_time <= delivered + 1,", "s.waiting_time <= delivered,"),
    ("Implies(s.receiver_pc == ReceiverPc.Receive, s.waiting_time < delivered),", "s.waiting_time < delivered,"),
    ("beyond >= 0, beyond < s.delta", "beyond >= -1, beyond < s.delta"),
    (">= 3 * s.phi + s.delta, s.buffer.has(", ">= 3 * s.phi + s.delta - 1, s.buffer.has("),
    ("s.timeout >= 6 * s.phi + s.delta", "s.timeout >= 6 * s.phi + s.delta + 1"),
    ("s.sender_timer >= s.waiting_time)", "s.sender_timer >= s.waiting_time + 1)"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "broken"), every(6, BOUNDS_OFF_BY_ONE))
def test_a_bound_off_by_one_fails_as_the_command_line_says(project: Project, bound: str, broken: str) -> None:
    assert bound in STRONG_ACCURACY
    project.write(proof_accuracy=STRONG_ACCURACY.replace(bound, broken))
    found = project.pytest("--junitxml=report.xml")
    (proof,) = json.loads(project.verify_invariant("proof_accuracy.py", "--json").out)["proofs"]
    named = {each["name"]: each for each in proof["obligations"] if each["verdict"] != "proved"}
    assert named, "it holds, so the test shows nothing"
    assert found.failed == {f"proof_accuracy.py::{name}" for name in named}
    assert found.code == 1
    told = project.verify_invariant("proof_accuracy.py").out
    for name, case in junit(project.folder / "report.xml").items():
        if name in named:
            assert case.properties["verdict"] == [named[name]["verdict"]]
            assert case.text.strip() in told, "the text, step table and all"
            assert "┃ round ┃" in case.text
            assert ("*" in case.text) == name.endswith("-step"), "what a step changes is marked"


def test_the_first_line_says_what_fails(any_pytest: Project) -> None:
    any_pytest.write(proof_bad=files.NOT_INDUCTIVE)
    title, first, *_ = any_pytest.pytest().section("FAILURES")
    assert "waits-step" in title
    assert first == (
        "proof_bad.py:15: waits-step fails: waits holds with all other conjuncts, and is false after this round"
    )


def test_a_violated_goal_fails(project: Project) -> None:
    project.write(proof_bad=files.VIOLATED)
    found = project.pytest("--junitxml=report.xml")
    assert found.failed == {"proof_bad.py::trusted-step"}
    case = junit(project.folder / "report.xml")["trusted-step"]
    assert case.properties["verdict"] == ["violated"]
    assert "the goal is false in a reachable state" in case.text


@pytest.mark.slow
@pytest.mark.parametrize("xdist", every(2, XDIST))
def test_unknown_fails_and_can_be_seen_again(project: Project, xdist: tuple[str, ...]) -> None:
    project.write(proof_hard=files.HOURS)
    found = project.pytest("-k", "no_factors-step", "--fdverify-time-limit=1", "--fdverify-no-cache", *xdist)
    assert found.code == 1
    assert found.outcomes == {"proof_hard.py::no_factors-step": "FAILED"}
    counts, slowest, unknown, command = found.section("fdverify")
    assert counts == "unknown 1"
    assert slowest.startswith("slowest: proof_hard.py::no_factors-step ")
    assert unknown.startswith("unknown: proof_hard.py::no_factors-step: ")
    words = shlex.split(command)
    assert words == [
        *("verify-invariant", "proof_hard.py", "--only", "no_factors-step"),
        *("--time-limit", "1", "--no-cache"),
    ]
    again = project.verify_invariant(*words[1:])
    assert again.code == 3
    assert "no_factors-step" in again.out


@pytest.mark.slow
def test_unknown_may_be_an_expected_failure_and_is_never_a_pass(any_pytest: Project) -> None:
    any_pytest.write(proof_hard=files.HOURS)
    found = any_pytest.pytest("-k", "no_factors-step", "--fdverify-time-limit=1", "--fdverify-unknown=xfail")
    assert found.outcomes == {"proof_hard.py::no_factors-step": "XFAIL"}
    assert found.code == 0
    assert "unknown: proof_hard.py::no_factors-step: " in found.out


@pytest.mark.parametrize(
    ("text", "failing", "message"),
    [
        (files.VACUOUS_PREMISE, "goal-premise", "the goal's premise (proof_mine.py:12) was not reached"),
        (files.UNSATISFIABLE, "assumptions", "no parameters satisfy the assumptions: impossible"),
    ],
    ids=["premise", "assumptions"],
)
def test_vacuous_fails(project: Project, text: str, failing: str, message: str) -> None:
    project.write(proof_mine=text)
    found = project.pytest("--fdverify-unknown=xfail")
    assert found.failed == {f"proof_mine.py::{failing}"}
    assert f"proof_mine.py: {failing} is vacuous: {message}" in found.out
    assert found.code == 1


def test_what_makes_no_sense_without_satisfiable_assumptions_is_skipped(project: Project) -> None:
    project.write(proof_mine=files.UNSATISFIABLE)
    found = project.pytest("-k", "phases or premise or dead")
    assert found.outcomes == {}
    assert "3 skipped" in found.out


def test_a_claim_that_is_no_truth_value_is_an_error_of_one_line(any_pytest: Project) -> None:
    any_pytest.write(proof_bad=files.RETURNS_INT)
    found = any_pytest.pytest("proof_bad.py::bounded-step", "proof_bad.py::goal")
    assert found.outcomes == {"proof_bad.py::bounded-step": "ERROR", "proof_bad.py::goal": "ERROR"}
    lines = found.section("ERRORS")
    assert len(lines) == 4, lines
    assert all(line.startswith("proof_bad.py:15: invariant bounded returns int 3") for line in lines[1::2])


def test_a_worker_that_dies_is_no_pass(project: Project) -> None:
    # What has no source to read is run, and ends the process.
    deadly = files.GOOD.replace('"""The same."""', '"""The same."""\n    die()')
    die = 'made = {}\nexec("def die(): __import__(\'os\')._exit(0)", made)\ndie = made["die"]'
    project.write(proof_bad=f"{deadly}\n{die}\n")
    found = project.pytest("-k", "bounded or goal")
    assert found.passed == set()
    assert found.code == 1
    assert "its obligations were not generated: the worker process died" in found.out


def expecting(verdict: str, text: str, decorator: str, claim: str) -> str:
    """The proof with a claim marked as meant to fail."""
    marked = text.replace(f"{decorator}\ndef {claim}(", f'@expect_verdict("{verdict}")\n{decorator}\ndef {claim}(')
    assert marked != text
    return f"from fdverify.proofs import expect_verdict\n{marked}"


MARKED = expecting("not-inductive", files.NOT_INDUCTIVE, "@proof.invariant", "waits")


@pytest.mark.slow
def test_a_claim_may_be_meant_to_fail(project: Project) -> None:
    mark, registered = '@expect_verdict("not-inductive")\n', "@proof.invariant\n"
    project.write(proof_above=MARKED, proof_below=MARKED.replace(mark + registered, registered + mark))
    found = project.pytest("-k", "waits")
    assert found.code == 0
    assert len(found.passed) == 4
    assert found.section("fdverify")[0].startswith("not-inductive 2, proved 2")


@pytest.mark.parametrize(
    ("verdict", "claim", "failing", "message"),
    [
        ("violated", "waits", "waits-step", "waits-step is not-inductive, but violated was expected"),
        ("not-inductive", "trusted", "trusted-step", "trusted-step is proved, but not-inductive was expected"),
    ],
)
def test_a_claim_that_does_not_fail_as_it_is_meant_to_fails_the_test(
    project: Project, verdict: str, claim: str, failing: str, message: str
) -> None:
    project.write(proof_mine=expecting(verdict, files.NOT_INDUCTIVE, "@proof.invariant", claim))
    found = project.pytest("-k", claim)
    assert f"proof_mine.py::{failing}" in found.failed
    assert message in found.out
    assert found.code == 1


@pytest.mark.slow
def test_a_goal_or_an_assumption_may_be_meant_to_be_vacuous(project: Project) -> None:
    project.write(
        proof_premise=expecting("vacuous", files.VACUOUS_PREMISE, "@proof.goal", "timers"),
        proof_assuming=expecting("vacuous", files.UNSATISFIABLE, "@proof.assumption", "impossible"),
    )
    found = project.pytest("-k", "not init and not step")
    assert found.code == 0, found.out
    assert found.section("fdverify")[0].endswith("vacuous 2")


@pytest.mark.slow
def test_a_mark_is_for_the_proof_of_its_file(project: Project) -> None:
    """A conjunct that another proof borrows is not meant to fail there."""
    borrowed = (
        files.HEAD
        + "from proof_marked import proof as marked\n"
        + 'proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy")\n'
        + "proof.invariants(*marked.predicates())\n"
    )
    project.write(proof_marked=MARKED, proof_borrowed=borrowed)
    assert project.pytest("-k", "waits").failed == {"proof_borrowed.py::waits-step"}


@pytest.mark.parametrize("verdict", every(3, ["proved", "unknown", "wrong"]))
def test_no_claim_is_meant_to_be_proved_or_unknown(project: Project, verdict: str) -> None:
    project.write(proof_mine=MARKED.replace('"not-inductive"', f'"{verdict}"'))
    found = project.pytest()
    assert found.outcomes == {"proof_mine.py": "ERROR"}
    hint = "(hint: one of not-inductive, violated, vacuous)"
    assert f"proof_mine.py:16: a claim cannot be expected to be {verdict} {hint}" in found.out


def test_a_mark_on_a_conjunct_is_not_for_the_goal_of_its_name(project: Project) -> None:
    """The goal is a property of the model here, and the conjunct has its name."""
    model = (
        "from dataclasses import replace\nfrom fdverify.detectors.chandra_toueg import CHANDRA_TOUEG\n"
        "from fdverify.models.system import Property\n\n"
        "def build(**chosen):\n"
        "    idle = Property('idle', lambda s: s.waiting_time < 1, 'nobody waits')\n"
        "    return replace(CHANDRA_TOUEG.build(**chosen), properties=(idle,))\n\n"
        "TOY = replace(CHANDRA_TOUEG, build=build)\n"
    )
    proof = files.HEAD + (
        "from fdverify.proofs import expect_verdict\n"
        'proof = Proof("toy.py:TOY", goal="idle")\n\n\n'
        '@expect_verdict("violated")\n@proof.invariant\ndef idle(s):\n'
        '    """It holds."""\n    return s.waiting_time >= 0\n'
    )
    project.write(toy=model, proof_mine=proof)
    found = project.pytest("-k", "idle or goal")
    assert {"proof_mine.py::idle-init", "proof_mine.py::idle-step", "proof_mine.py::goal"} <= found.failed
