"""What other programs and people read: JUnit, colours, the end of a run, nothing left behind."""

import os
import signal
import subprocess
import sys

import pytest

from tests.cli import written_proofs as files
from tests.cli.processes import children, heed_interrupts, living, wait_until
from tests.sampling import every
from tests.testing.project import LONG_ENOUGH, Project, junit


@pytest.mark.slow
def test_junit_carries_verdict_solver_and_effort(any_run: tuple[Project, tuple[str, ...]]) -> None:
    project, xdist = any_run
    project.write(proof_bad=files.NOT_INDUCTIVE)
    project.pytest("--junitxml=report.xml", *xdist)
    cases = junit(project.folder / "report.xml")
    assert {f"proof_bad.py::{name}" for name in cases} == set(project.ids())
    for name, case in cases.items():
        assert set(case.properties) == {"verdict", "solver", "effort"}
        assert case.properties["verdict"] == ["not-inductive" if name == "waits-step" else "proved"]
        assert case.properties["solver"][0].startswith("z3 ")
        assert case.outcome == ("failure" if name == "waits-step" else "passed")
    assert int(cases["trusted-step"].properties["effort"][0]) > 0


def test_the_summary_counts_verdicts_and_names_the_slowest(any_pytest: Project) -> None:
    any_pytest.write(proof_bad=files.NOT_INDUCTIVE, test_other="def test_other():\n    pass\n")
    counts, slowest = any_pytest.pytest().section("fdverify")
    assert counts == "not-inductive 1, proved 22"
    assert slowest.startswith("slowest: ")
    assert slowest.count(" s") >= 3
    assert "proof_bad.py::waits-step" in slowest


def test_nothing_is_summed_up_where_nothing_was_verified(project: Project) -> None:
    project.write(test_other="def test_other():\n    pass\n")
    assert "= fdverify =" not in project.pytest().out


@pytest.mark.slow
@pytest.mark.parametrize("colour", every(2, ["no", "yes"]))
def test_step_tables_have_no_colour(project: Project, colour: str) -> None:
    project.environment(FORCE_COLOR="1" if colour == "yes" else None)
    project.write(proof_bad=files.NOT_INDUCTIVE)
    found = project.pytest(f"--color={colour}", "--junitxml=report.xml")
    assert ("\x1b[" in found.out) == (colour == "yes")
    text = junit(project.folder / "report.xml")["waits-step"].text
    assert "\x1b" not in text
    assert "#x1B" not in text
    assert "4*" in text
    assert text.strip() in found.out, "not coloured by pytest either"


@pytest.mark.slow
@pytest.mark.parametrize("capture", every(3, ["fd", "sys", "no", "tee-sys"]))
def test_it_works_however_output_is_captured(project: Project, capture: str) -> None:
    project.write(proof_bad=f"{files.NOT_INDUCTIVE}\nprint('loaded')\n")
    found = project.pytest(f"--capture={capture}", "-k", "trusted or waits")
    assert found.failed == {"proof_bad.py::waits-step"}
    assert len(found.passed) == 3


@pytest.mark.slow
def test_warnings_may_be_errors(any_pytest: Project) -> None:
    """Python warns of forking where there are threads, as there are in the workers of pytest-xdist."""
    any_pytest.write(proof_good=files.GOOD)
    ignored = "ignore::pytest.PytestAssertRewriteWarning"
    found = any_pytest.pytest("-W", "error", "-W", ignored, "-n", "2", "-k", "bounded or goal")
    assert found.code == 0, found.out


def test_a_run_without_proofs_loads_no_solver(project: Project) -> None:
    project.environment(COVERAGE_PROCESS_CONFIG=None)  # coverage.py would load it
    project.write(
        conftest="import sys\n\ndef pytest_unconfigure():\n    print('loaded', *sorted(sys.modules))\n",
        test_other="def test_other():\n    pass\n",
    )
    found = project.run(sys.executable, "-m", "pytest")
    assert found.code == 0
    (line,) = [line for line in found.out.splitlines() if line.startswith("loaded ")]
    loaded = set(line.split())
    assert "fdverify.pytest_plugin" in loaded
    assert not {"z3", "pysmt", "numpy", "rich", "typer", "msgspec", "multiprocessing"} & loaded
    ours = {name for name in loaded if name.startswith("fdverify")}
    assert not {
        name
        for name in ours
        if name.startswith(
            ("fdverify.proofs", "fdverify.engines", "fdverify.models", "fdverify.obligations", "fdverify.detectors")
        )
    }


@pytest.mark.slow
def test_an_interrupt_leaves_no_process(project: Project) -> None:
    project.write(proof_hard=files.HOURS)
    command = [sys.executable, "-m", "pytest", "-k", "no_factors-step"]
    with subprocess.Popen(
        command,
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    ) as running:

        def busy() -> bool:
            return any(worker.cpu_seconds > 0.5 for worker in children(running.pid))

        assert wait_until(busy, seconds=LONG_ENOUGH)
        workers = {worker.pid for worker in children(running.pid)}
        os.kill(running.pid, signal.SIGINT)
        out, _ = running.communicate(timeout=LONG_ENOUGH)
    assert running.returncode == 2
    assert b"KeyboardInterrupt" in out
    assert not workers & {process.pid for process in living()}
