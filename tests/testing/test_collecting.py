"""Which items there are, under which ids, and which of them run."""

import json
import shutil
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from tests.cli import written_proofs as files
from tests.sampling import every
from tests.testing.project import OLDEST_PYTEST, Project

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "invariants").rglob("[!_]*.py"))
INI = "-ofdverify_files=invariants/*.py"


def obligations(document: str) -> list[str]:
    """The ids that the command line's report amounts to."""
    proofs = json.loads(document)["proofs"]
    return [f"{proof['file']}::{found['name']}" for proof in proofs for found in proof["obligations"]]


@pytest.mark.slow
def test_the_ids_are_the_obligations_of_the_command_line(project: Project) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "invariants", project.folder / "invariants", ignore=ignored)
    ids = project.ids(INI, "invariants")
    # pytest takes files and folders in one order by name; the command line takes the files of a folder first.
    assert sorted(ids) == sorted(obligations(project.verify_invariant("invariants", "--json").out))
    assert len(ids) > 300
    assert "invariants/strong_accuracy.py::silent_sender-step" in ids


@pytest.mark.slow
def test_the_same_ids_and_outcomes_with_and_without_xdist(any_pytest: Project) -> None:
    any_pytest.write(proof_good=files.GOOD, proof_bad=files.NOT_INDUCTIVE)
    alone, together = any_pytest.pytest(), any_pytest.pytest("-n", "2")
    assert alone.outcomes == together.outcomes
    assert set(alone.outcomes) == set(any_pytest.ids())
    assert alone.failed == {"proof_bad.py::waits-step"}
    assert (alone.code, together.code) == (1, 1)


def test_k_selects_by_the_obligation(any_pytest: Project) -> None:
    any_pytest.write(proof_good=files.GOOD)
    found = any_pytest.pytest("-k", "step")
    assert len(found.passed) == 8
    assert all(nodeid.endswith("-step") for nodeid in found.passed)
    assert found.code == 0


@pytest.mark.slow
def test_last_failed_runs_what_failed(any_pytest: Project) -> None:
    any_pytest.write(proof_good=files.GOOD, proof_bad=files.NOT_INDUCTIVE)
    any_pytest.pytest("-k", "waits or bounded")
    assert any_pytest.pytest("--lf").outcomes == {"proof_bad.py::waits-step": "FAILED"}
    any_pytest.write(proof_bad=files.NOT_INDUCTIVE.replace("s.waiting_time <= 3 * s.phi", "s.waiting_time >= 0"))
    assert any_pytest.pytest("--lf").outcomes == {"proof_bad.py::waits-step": "PASSED"}


def test_it_works_without_the_cache_of_pytest(any_pytest: Project) -> None:
    any_pytest.write(proof_good=files.GOOD)
    assert len(any_pytest.pytest("-p", "no:cacheprovider").passed) == 21


def test_x_stops_at_the_first_failure(project: Project) -> None:
    project.write(proof_a=files.VIOLATED, proof_b=files.NOT_INDUCTIVE)
    found = project.pytest("-x")
    assert found.failed == {"proof_a.py::trusted-step"}
    assert "proof_a.py::trusted-init" in found.passed
    assert "proof_a.py::goal" not in found.outcomes


def test_one_id_is_one_obligation(project: Project) -> None:
    project.write(proof_good=files.GOOD)
    assert project.pytest("proof_good.py::bounded-step").outcomes == {"proof_good.py::bounded-step": "PASSED"}
    assert project.pytest("proof_good.py::no-such").code == 4


def test_a_file_named_on_the_command_line_is_collected_once(project: Project) -> None:
    project.write(proof_good=files.GOOD + "\n\ndef test_not_mine():\n    assert False\n")
    ids = project.ids("proof_good.py")
    assert len(ids) == len(set(ids)) == 21
    assert not any("not_mine" in nodeid for nodeid in ids)


def test_a_file_of_both_kinds_has_items_of_both(project: Project) -> None:
    project.write(test_good=files.GOOD + "\n\ndef test_mine():\n    pass\n")
    ids = project.ids("-ofdverify_files=test_*.py")
    assert "test_good.py::test_mine" in ids
    assert "test_good.py::bounded-step" in ids
    assert project.ids() == ["test_good.py::test_mine"]


def test_without_globs_a_file_in_which_a_proof_is_written_is_one(any_pytest: Project) -> None:
    made_elsewhere = "from fdverify.proofs import Proof\n\n\ndef made():\n    proof = Proof('chandra-toueg')\n"
    any_pytest.write(mine=files.GOOD, deep__mine=files.GOOD, _helps=files.GOOD, conftest="", maker=made_elsewhere)
    any_pytest.write(other="raise SystemExit('a script is not run')\n", test_own="def test_own():\n    pass\n")
    found = {nodeid.partition("::")[0] for nodeid in any_pytest.ids()}
    assert found == {"mine.py", "deep/mine.py", "test_own.py"}
    assert len(any_pytest.ids("mine.py")) == 21
    globbed = {nodeid.partition("::")[0] for nodeid in any_pytest.ids("-ofdverify_files=deep/*.py")}
    assert globbed == {"deep/mine.py", "test_own.py"}


def test_helpers_and_conftest_are_no_proofs(project: Project) -> None:
    project.write(proofs___shared="BOUND = 1\n", proofs__conftest="", proofs__mine=files.GOOD, others__mine=files.GOOD)
    ids = project.ids("-ofdverify_files=proofs/*.py")
    assert {nodeid.split("::")[0] for nodeid in ids} == {"proofs/mine.py"}


def test_a_marker_selects_proofs(project: Project) -> None:
    project.write(proof_good=files.GOOD, test_other="def test_other():\n    pass\n")
    assert project.ids("--strict-markers", "-m", "not fdverify") == ["test_other.py::test_other"]
    assert len(project.ids("-m", "fdverify")) == 21


@pytest.mark.parametrize(
    ("text", "message"),
    every(
        3,
        [
            (files.SYNTAX_ERROR, "proof_bad.py:5: '(' was never closed"),
            (files.FAILED_IMPORT, "proof_bad.py:1: ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
            (files.NO_GOAL, "proof_bad.py:6: the proof has no goal"),
            ("answer = 42\n", "proof_bad.py: there is no proof in it"),
            (files.GOOD + "\nraise SystemExit(0)\n", "proof_bad.py:20: SystemExit: 0"),
        ],
    ),
    ids=every(3, ["syntax", "import", "no-goal", "no-proof", "exit"]),
)
def test_a_bad_file_is_one_collection_error(project: Project, text: str, message: str) -> None:
    project.write(proof_bad=text, proof_good=files.GOOD)
    found = project.pytest("proof_bad.py", "proof_good.py")
    assert found.code == 2
    assert found.outcomes == {"proof_bad.py": "ERROR"}
    title, shown = found.section("ERRORS")
    assert "ERROR collecting proof_bad.py" in title
    assert shown.startswith(message)


def test_a_proof_file_may_skip_itself(project: Project) -> None:
    project.write(proof_good="import pytest\npytest.importorskip('no_such_module_anywhere')\n" + files.GOOD)
    found = project.pytest()
    assert found.outcomes == {}
    assert "1 skipped" in found.out


@pytest.mark.slow
def test_a_neighbour_is_the_one_beside_the_proof(project: Project) -> None:
    """Whatever else in this process has its name."""
    project.write(
        proofs__bounds="LEAST = 0\n",
        proofs__proof_mine="from bounds import LEAST\n" + files.GOOD.replace("< s.phi", "< s.phi + LEAST"),
        tests__bounds="LEAST = -5\n",
        tests__test_bounds="import bounds\n\ndef test_bounds():\n    assert bounds.LEAST == -5\n",
    )
    for order in (("tests", "proofs"), ("proofs", "tests")):
        found = project.pytest(*order)
        assert found.code == 0, found.out
        assert "tests/test_bounds.py::test_bounds" in found.passed
        assert "proofs/proof_mine.py::bounded-step" in found.passed


@pytest.mark.slow
def test_an_edited_file_is_read_again_in_the_same_process(project: Project) -> None:
    project.write(proof_mine=files.GOOD)
    script = (
        "import pathlib, pytest\n"
        "file = pathlib.Path('proof_mine.py')\n"
        "first = pytest.main(['-q'])\n"
        "file.write_text(file.read_text().replace('< s.phi', '< s.phi - 1'))\n"
        "print('codes', int(first), int(pytest.main(['-q'])))\n"
    )
    project.write(twice=script)
    found = project.run(sys.executable, "twice.py")
    assert "codes 0 1" in found.out, found.out + found.error


def test_the_oldest_pytest_is_the_one_that_is_named() -> None:
    (extra,) = [each for each in requires("fdverify") or [] if each.endswith('extra == "pytest"')]
    (metadata,) = OLDEST_PYTEST.glob("pytest-*.dist-info")
    version = metadata.name.removeprefix("pytest-").removesuffix(".dist-info")
    assert f">={version}" in extra.replace(" ", "")


@pytest.mark.parametrize(
    "made", ["main = proof = Proof(", "proof = proofs.Proof(", "proof: proofs.Proof = proofs.Proof("]
)
def test_a_proof_may_be_written_in_several_ways(project: Project, made: str) -> None:
    project.write(mine="import fdverify.proofs as proofs\n" + files.GOOD.replace("proof = Proof(", made))
    assert project.ids()
