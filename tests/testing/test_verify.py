"""The fixture ``verify``: what it believes, and what its failures show."""

import pytest

from tests.cli import written_proofs as files
from tests.sampling import every
from tests.testing.project import Project, junit

HEAD = """
import pytest
from dataclasses import replace
from pathlib import Path

from fdverify.logic import Not
from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG
from fdverify.models.system import Property
from fdverify.proofs import Proof
from fdverify.verdict import Verdict

"""

BELIEVED = (
    HEAD
    + """
def test_a_file(verify):
    assert verify.proved("proof_good.py").verdict is Verdict.PROVED
    verify.proved(Path("proof_good.py"), delta=2, phi=3, variant="tla", k=2)

def test_at_hand(verify):
    bound = 0
    proof = Proof("chandra-toueg", variant="ivy")

    @proof.goal
    def timers(s):
        '''The receiver is idle for less than Φ.'''
        return s.receiver_timer < s.phi + bound

    @proof.invariant
    def bounded(s):
        '''The same.'''
        return timers(s)

    assert len(verify.proved(proof).obligations) == 21
    bound = -1
    with pytest.raises(AssertionError, match="bounded-init"):
        verify.proved(proof)

@pytest.mark.parametrize("phi", [2, None])
def test_violated(verify, phi):
    steps = verify.violated("chandra-toueg", "strong-accuracy", delta=1, phi=phi, timeout="phi+delta+1")
    assert steps.steps[-1].state["suspected"] is True
    assert steps.parameters["delta"] == 1

class TestInAClass:
    def test_explored(self, verify):
        found = verify.explored("chandra-toueg", "strong-accuracy", delta=2, phi=4, subrounds=True)
        assert (found.statistics["states"], found.statistics["depth"]) == (10158, 176)

def test_models_and_properties_at_hand(verify):
    model = replace(CHANDRA_TOUEG, name="mine")
    never = Property("never", lambda s: s.waiting_time < 3, "nobody waits for long")
    assert len(verify.violated(model, never, delta=1, phi=1).steps) == 4
    verify.explored(model, Property("waits", lambda s: s.waiting_time >= 0, "time goes on"), delta=1, phi=1)

def test_a_model_of_a_file(verify):
    verify.violated("models/mine.py:MINE", delta=1, phi=1, timeout=2)
"""
)
MODEL = """
from dataclasses import replace
from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG

MINE = replace(CHANDRA_TOUEG, name="mine")
"""


@pytest.mark.slow
def test_what_is_so_is_believed(any_run: tuple[Project, tuple[str, ...]]) -> None:
    project, xdist = any_run
    project.write(proof_good=files.GOOD, test_believed=BELIEVED, models__mine=MODEL)
    found = project.pytest("test_believed.py", *xdist)
    assert found.code == 0, found.out
    assert len(found.passed) == 7


NOT_SO = (
    HEAD
    + """
def test_not_inductive(verify):
    verify.proved("proof_bad.py")

def test_vacuous(verify):
    verify.proved("proof_vacuous.py")

def test_bounded(verify):
    verify.violated("chandra-toueg", "strong-accuracy", delta=1, phi=1, depth=5)

def test_explored(verify):
    verify.explored("chandra-toueg", delta=1, phi=1, timeout=2)

def test_misspelt(verify):
    verify.proved("proof_bad.py", delt=1)

def test_no_number(verify):
    verify.proved("proof_bad.py", delta="1")

def test_too_small(verify):
    verify.explored("chandra-toueg", delta=1, phi=0)

def test_no_such_property(verify):
    verify.violated("chandra-toueg", "strong-acuracy", delta=1, phi=1)

def test_no_such_file(verify):
    verify.proved("proof_none.py")

def test_symbolic(verify):
    verify.explored("chandra-toueg", delta=1)
"""
)


def test_what_is_not_so_fails_and_says_why(project: Project) -> None:
    project.write(
        proof_bad=files.NOT_INDUCTIVE,
        proof_vacuous=files.VACUOUS_PREMISE,
        test_not_so=NOT_SO,
    )
    found = project.pytest("test_not_so.py", "--junitxml=report.xml")
    assert found.passed == set()
    assert len(found.failed) == NOT_SO.count("def test_")
    texts = {name: case.text for name, case in junit(project.folder / "report.xml").items()}
    for name, message in {
        "test_not_inductive": "proof_bad is not proved: not-inductive: a step leaves the invariant (waits-step)",
        "test_vacuous": "proof_vacuous is not proved: vacuous: goal-premise: the goal's premise (proof_vacuous.py:12)",
        "test_bounded": "strong-accuracy of chandra-toueg is not violated: bounded: ",
        "test_explored": "strong-accuracy of chandra-toueg is not proved: violated: ",
        "test_misspelt": "chandra-toueg has no parameter or option delt (hint: did you mean delta?)",
        "test_no_number": "delta must be a number or None, got '1'",
        "test_too_small": "--phi must be at least 1, got 0",
        "test_no_such_property": "strong-acuracy",
        "test_no_such_file": "no such file: proof_none.py",
        "test_symbolic": "phi",
    }.items():
        (first,) = [line for line in texts[name].splitlines() if line.startswith("E  ")][:1]
        assert message in first, name
        assert "testing/verify.py" not in texts[name], "not the way through the fixture"
    for name in ("test_not_inductive", "test_explored"):
        assert "┃ round ┃" in texts[name]


@pytest.mark.parametrize(("told", "outcome"), every(2, [("fail", "FAILED"), ("xfail", "XFAIL")]))
def test_unknown_never_passes(project: Project, told: str, outcome: str) -> None:
    project.write(proof_hard=files.HOURS, test_it="def test_it(verify):\n    verify.proved('proof_hard.py')\n")
    found = project.pytest("test_it.py", "--fdverify-time-limit=1", f"--fdverify-unknown={told}")
    assert found.outcomes == {"test_it.py::test_it": outcome}
    assert "  pytest test_it.py::test_it --fdverify-time-limit 1" in found.section("fdverify")
    if told == "fail":
        assert "E       AssertionError: proof_hard is not proved: unknown: " in found.out


@pytest.mark.slow
def test_junit_carries_the_verdicts_of_a_test(project: Project) -> None:
    project.write(proof_good=files.GOOD, test_believed=BELIEVED)
    project.pytest("test_believed.py", "-k", "test_a_file or explored", "--junitxml=report.xml")
    cases = junit(project.folder / "report.xml")
    assert cases["test_a_file"].properties["verdict"] == ["proved", "proved"]
    assert int(cases["test_a_file"].properties["effort"][0]) > 0
    assert cases["test_explored"].properties["verdict"] == ["proved"]
