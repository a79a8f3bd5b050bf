"""pytest does not load a proof again that is known to be proved, and stores what it has proved itself."""

from tests.cli import written_proofs as files
from tests.testing.project import Project

CONFTEST = """
import os

import fdverify.testing.collect
import fdverify.workers.pool


def refuse(*arguments, **more):
    raise AssertionError("a worker process was started")


if "NO_WORKERS" in os.environ:
    fdverify.testing.collect.run_in_worker = refuse
    fdverify.workers.pool.start_process = refuse
"""


def test_a_second_run_starts_no_worker(project: Project) -> None:
    project.write(conftest=CONFTEST, proofs__proof_mine=files.GOOD)
    first = project.pytest("proofs/proof_mine.py")
    assert first.code == 0, first.out
    project.environment(NO_WORKERS="1")
    again = project.pytest("proofs/proof_mine.py")
    assert again.code == 0, again.out
    assert again.passed == first.passed


def test_a_part_of_a_proof_is_not_stored(project: Project) -> None:
    project.write(conftest=CONFTEST, proofs__proof_mine=files.GOOD)
    assert project.pytest("proofs/proof_mine.py", "-k", "bounded").code == 0
    project.environment(NO_WORKERS="1")
    assert project.pytest("proofs/proof_mine.py").code != 0


def test_a_changed_proof_is_loaded(project: Project) -> None:
    project.write(conftest=CONFTEST, proofs__proof_mine=files.GOOD)
    assert project.pytest("proofs/proof_mine.py").code == 0
    project.write(proofs__proof_mine=files.NOT_INDUCTIVE)
    assert project.pytest("proofs/proof_mine.py").code == 1
