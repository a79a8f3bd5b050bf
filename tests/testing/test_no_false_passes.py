"""Ways in which a test once passed, or could have, though what it claims is not so."""

from tests.cli import written_proofs as files
from tests.testing.project import Project
from tests.testing.test_failing import expecting

FALSE_IN_THE_END = files.GOOD.replace("s.receiver_timer < s.phi", "s.receiver_timer < 3")

CLAIMS = """
import os

import pytest
from fdverify.errors import FdverifyError
from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG
from fdverify.models.system import Property
from fdverify.proofs import Proof
from written import GOOD, LOSSY, MODEL, VIOLATED

NOT = (AssertionError, FdverifyError)


@pytest.mark.parametrize("k", [0, -1, False, True, 1.5, "1", None])
def test_without_a_round_everything_is_inductive(verify, k):
    with pytest.raises(FdverifyError, match="k must be an integer of at least 1"):
        verify.proved("proof_false.py", k=k)

def test_an_edited_proof_is_not_the_one_before(verify, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(GOOD)
    verify.proved(file)
    file.write_text(VIOLATED)
    with pytest.raises(AssertionError, match="violated"):
        verify.proved(file)

def test_an_edited_model_is_not_the_one_before(verify, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MODEL)
    verify.explored(f"{file}:M", delta=1, phi=1)
    file.write_text(LOSSY)
    with pytest.raises(AssertionError, match="violated"):
        verify.explored(f"{file}:M", delta=1, phi=1)

def test_the_same_name_in_another_folder_is_another_file(verify, tmp_path, monkeypatch):
    for name, text in (("a", MODEL), ("b", LOSSY)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(text)
    monkeypatch.chdir(tmp_path / "a")
    assert Proof("mine.py:M", goal="strong-accuracy").model.name == "chandra-toueg"
    monkeypatch.chdir(tmp_path / "b")
    assert Proof("mine.py:M", goal="strong-accuracy").model.name == "lossy"

@pytest.mark.parametrize("crash", [0, 1, "no", "false"])
def test_a_switch_is_true_or_false(verify, crash):
    with pytest.raises(FdverifyError, match="--crash must be true or false"):
        verify.explored("chandra-toueg", "strong-completeness", delta=1, phi=1, crash=crash)

def test_a_property_that_hides_its_misuse(verify):
    def hides(s):
        try:
            return True if s.receiver_timer <= 0 else False
        except Exception:
            return True

    with pytest.raises(NOT):
        verify.explored("chandra-toueg", Property("hides", hides, "it is idle"), delta=1, phi=2)

def test_a_property_that_is_no_truth_value(verify):
    with pytest.raises(FdverifyError, match="property three returns int 3, not a truth value"):
        verify.explored("chandra-toueg", Property("three", lambda s: 3, "it is three"), delta=1, phi=2)

def test_the_empty_name_names_nothing(verify):
    with pytest.raises(FdverifyError, match="no property"):
        verify.explored("chandra-toueg", "", delta=1, phi=1)

def test_properties_of_these_names_may_be_anybodys(verify, record_property):
    for name in ("verdict", "detail", "reproduce", "effort"):
        record_property(name, "mine")
    verify.proved("proof_good.py", delta=1)
"""
WRITTEN = f"""
GOOD = {files.GOOD!r}
VIOLATED = {files.VIOLATED!r}
MODEL = "from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG as M\\n"
LOSSY = '''
from dataclasses import replace
from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG
from fdverify.models.system import update

def build(**chosen):
    system = CHANDRA_TOUEG.build(**chosen)
    receive = system.phase("receive")
    return system.with_phase("receive", lambda s, c: update(**receive.run(s, c).changes))

M = replace(CHANDRA_TOUEG, name="lossy", build=build)
'''
"""


def test_claims_that_are_not_so(project: Project) -> None:
    project.write(proof_false=FALSE_IN_THE_END, proof_good=files.GOOD, written=WRITTEN, test_claims=CLAIMS)
    found = project.pytest("test_claims.py")
    assert found.code == 0, found.out
    assert len(found.passed) == 18


def test_a_vacuous_proof_whose_goal_is_meant_to_fail_in_another_way(project: Project) -> None:
    project.write(proof_mine=expecting("violated", files.UNSATISFIABLE, "@proof.goal", "timers"))
    found = project.pytest("-k", "not init and not step")
    assert found.failed == {"proof_mine.py::goal", "proof_mine.py::assumptions"}


def test_a_conjunct_that_has_no_test(project: Project) -> None:
    """Whatever adds it after the tests were collected: it would be a hypothesis of the others."""
    project.write(
        proof_mine=files.GOOD,
        conftest=(
            "from pathlib import Path\n\n"
            "def pytest_collection_finish(session):\n"
            "    from fdverify.proofs.proof_files import load_proof\n"
            "    def false(s):\n        '''It is false.'''\n        return s.waiting_time < 0\n"
            "    load_proof(Path(session.config.rootpath, 'proof_mine.py')).invariant(false)\n"
        ),
    )
    found = project.pytest("-k", "bounded")
    assert set(found.outcomes.values()) == {"ERROR"}
    assert "proof_mine.py: the obligations have changed since they were collected" in found.out


LAZY = files.GOOD.replace(
    'same."""\n    return s.receiver_timer < s.phi',
    'same."""\n    from {helper} import bound\n\n    return bound(s)',
)
RIGHT = "def bound(s):\n    return s.receiver_timer < s.phi\n"
WRONG = "def bound(s):\n    return s.receiver_timer < s.phi - 1\n"


def test_a_module_or_package_beside_the_proof_is_meant_though_it_is_imported_late(project: Project) -> None:
    project.write(
        a__helper=RIGHT,
        a__test_a="import helper\nimport lib.bounds\n\ndef test_a():\n    pass\n",
        b__helper=WRONG,
        b__proof_module=LAZY.format(helper="helper"),
        b__proof_package=LAZY.format(helper="lib.bounds"),
    )
    for folder, text in (("a", RIGHT), ("b", WRONG)):
        (project.folder / folder / "lib").mkdir()
        (project.folder / folder / "lib" / "bounds.py").write_text(text)
    found = project.pytest("a", "b", "-k", "test_a or bounded")
    assert found.passed == {"a/test_a.py::test_a"}
    assert found.failed == {f"b/proof_{kind}.py::bounded-init" for kind in ("module", "package")} | {
        f"b/proof_{kind}.py::bounded-step" for kind in ("module", "package")
    }


def test_tests_in_a_proof_file_are_found_as_pytest_finds_them(project: Project) -> None:
    project.write(checks__mine=files.GOOD + "\n\ndef test_mine():\n    assert False\n")
    globs = (f"-opython_files={project.folder.name}/checks/*.py", "-ofdverify_files=checks/*.py")
    ids = project.ids(*globs)
    assert "checks/mine.py::test_mine" in ids
    assert "checks/mine.py::bounded-step" in ids


def test_a_glob_without_a_slash_is_about_the_name(project: Project) -> None:
    project.write(proof_lib__util="ANSWER = 42\n", test_other="def test_other():\n    pass\n")
    assert project.ids() == ["test_other.py::test_other"]
