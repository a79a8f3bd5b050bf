"""The page on performance is compared with the one before, and then replaced."""

import subprocess
import sys
from pathlib import Path

import pytest
import run
from commands import describe_commit, describe_machine
from comparison import read_baseline
from run import TimedCommand

START = TimedCommand("start", "--help", "0.3 s")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page without rows; the benchmark measures one of two commands, and nothing else."""
    page = tmp_path / "performance.md"
    page.write_text("# Performance\n")
    monkeypatch.setattr(run, "PAGE", page)
    monkeypatch.setattr(run, "COMMANDS", (START, TimedCommand("version", "--help")))
    monkeypatch.setattr(run, "REPEATS", 1)
    monkeypatch.setattr(run, "OTHERS", {})
    monkeypatch.setattr(run, "measure_choices", lambda: ["| a choice | 2.0 |"])
    monkeypatch.setattr(run, "measure_drivers", lambda: ["| an automaton | all | proved | 1 | 2 | 3 |"])
    monkeypatch.setattr(sys, "argv", ["run.py"])
    return page


@pytest.mark.slow
def test_the_page_is_written_and_read_back(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run.main()
    assert "Nothing was compared" in page.read_text()
    assert "None of 0 figures became slower." in capsys.readouterr().out
    baseline = read_baseline(page.read_text())
    assert baseline.machine == describe_machine()
    assert {column: list(rows) for column, rows in baseline.figures.items()} == {
        "seconds": ["start", "version"],
        "CPU": ["start", "version"],
    }


@pytest.mark.slow
def test_what_became_slower_is_marked_and_listed(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page.write_text(
        f"Machine: {describe_machine()}.\n\n"
        "| what | seconds | CPU |\n| --- | --- | --- |\n| start | 0.01 | 0.01 |\n| version | 999 | 999 |\n"
    )
    run.main()
    marked = {line.split(" | ")[0]: line.split(" | ")[-1] for line in page.read_text().splitlines() if "|" in line}
    assert marked["| start"].startswith("seconds ")
    assert "CPU " in marked["| start"]
    assert marked["| version"] == "– |"
    assert "2 of 4 figures became slower:" in capsys.readouterr().out


def test_a_few_rows_are_printed_and_not_written(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--only", "sta"])
    run.main()
    printed = capsys.readouterr().out
    assert "| start |" in printed
    assert "| version |" not in printed
    assert page.read_text() == "# Performance\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Another checkout, with a command that takes a fifth of a second."""
    folder = tmp_path / "checkout"
    script = folder / ".venv" / "bin" / "fdverify"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\necho $XDG_CACHE_HOME >> caches\nsleep 0.2\ntest $1 = --help || exit 2\n")
    script.chmod(0o755)
    for command in ("init --quiet", "-c user.name=a -c user.email=b commit --quiet --allow-empty --message=c"):
        subprocess.run(["git", "-C", folder, *command.split()], check=True)
    return folder


def test_another_checkout_is_measured_in_turns(
    page: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--only", "start", "--beside", str(checkout)])
    run.main()
    printed = capsys.readouterr().out
    assert "| what | seconds | CPU | seconds before | CPU before |" in printed
    assert f"of commit {describe_commit(checkout)}: each" in printed
    cells = next(line.split(" | ") for line in printed.splitlines() if line.startswith("| start"))
    assert float(cells[3]) >= 0.2
    caches = (checkout / "caches").read_text().splitlines()
    assert len(set(caches)) == len(caches) == START.repeats


def test_a_command_that_another_checkout_does_not_have_has_no_time_there(checkout: Path) -> None:
    row = run.measure_timed_command(TimedCommand("short", "explore --delta 0 --phi 1", repeats=1), checkout)
    assert row.times
    assert row.before == {}


def test_a_checkout_without_commands_is_refused(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--beside", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        run.main()
    assert "there is no" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_given_up_has_no_time() -> None:
    endless = TimedCommand("endless", "bmc --delta 2 --phi 2 --depth 1000000", "30 s", limit=1)
    row = run.measure_timed_command(endless)
    assert (row.times, row.over) == ({}, 1)
    assert row.found.startswith("unknown")


def test_a_command_that_fails_has_no_time() -> None:
    with pytest.raises(RuntimeError, match="failed: exit code 2"):
        run.measure_timed_command(TimedCommand("wrong", "explore --delta much"))


def test_no_two_rows_have_one_name() -> None:
    names = [timed.what for timed in run.COMMANDS]
    assert len(names) == len(set(names))
