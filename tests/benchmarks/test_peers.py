"""Peers are measured beside fdverify: a peer that fails or is missing is reported, and never has a time."""

import os
import subprocess
import sys
from pathlib import Path

import peers
import pytest
from commands import Cost
from peers import Contest, ContestResult, Peer, Side, Target

ROOT = Path(__file__).parents[2]
PEER = Peer("Fake", "FDVERIFY_PEER_FAKE", "fake {file}", "all is well", "not proved")
CONTEST = Contest("work", PEER, "input.txt", "fdverify --version", Target(wall=4, cpu=3))
OURS = [sys.executable, "-c", "pass"]
BURNS = "import time\nwhile time.process_time() < 0.1: pass\nprint('all is well')"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "input.txt").write_text("all is well\n")
    return folder


def write_script(folder: Path, text: str) -> Path:
    script = folder / "fake"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    return script


def hold(files: Path, command: list[str], ours: list[str] = OURS) -> ContestResult:
    return peers.hold_contest(CONTEST, command, ours, files, repeats=2)


def test_a_peer_that_burns_time_has_it_counted(files: Path) -> None:
    result = hold(files, [sys.executable, "-c", BURNS])
    assert result.peer.cost is not None
    assert result.peer.cost.cpu >= 0.1
    assert result.ours.cost is not None


def test_both_sides_run_in_turns(files: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    peer = write_script(tmp_path, f"echo peer >> {log}\necho all is well")
    hold(files, [str(peer)], ["/bin/sh", "-c", f"echo ours >> {log}"])
    assert log.read_text().split() == ["peer", "ours", "peer", "ours"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo all is well; exit 7", "failed: exit code 7"),
        ("kill -9 $$", "failed: exit code -9"),
        ("true", "failed: it does not say all is well"),
        ("echo all is well; echo one is not proved", "failed: it does not say all is well"),
    ],
)
def test_a_peer_that_fails_has_no_time(files: Path, tmp_path: Path, text: str, said: str) -> None:
    result = hold(files, [str(write_script(tmp_path, text))])
    assert result.peer == Side(None, said)
    row = peers.write_table([result])[-1]
    assert row.startswith(f"| work | Fake | {said} | ")
    assert row.endswith(" | – | wall ≥ 4, CPU ≥ 3 |")


def test_a_peer_that_fails_only_once_has_no_time(files: Path, tmp_path: Path) -> None:
    """The best of the others is no measurement of what was asked for."""
    peer = write_script(
        tmp_path, f"echo all is well; test -e {tmp_path}/again || {{ touch {tmp_path}/again; exit 1; }}"
    )
    assert hold(files, [str(peer)]).peer == Side(None, "failed: exit code 1")


def test_a_program_that_does_not_exist_has_no_time(files: Path, tmp_path: Path) -> None:
    side = hold(files, [str(tmp_path / "nothing")]).peer
    assert side.cost is None
    assert side.problem.startswith("failed: ")
    assert "nothing" in side.problem


def test_our_own_failure_has_no_time(files: Path) -> None:
    result = hold(files, ["/bin/echo", "all is well"], ["/bin/false"])
    assert result.peer.cost is not None
    assert result.ours == Side(None, "failed: exit code 1")
    assert peers.write_table([result])[-1].endswith("| failed: exit code 1 | – | wall ≥ 4, CPU ≥ 3 |")


def test_a_peer_reads_its_file_and_leaves_the_folder_as_it_is(files: Path, tmp_path: Path) -> None:
    environment = {PEER.variable: f"{write_script(tmp_path, 'cat $1; touch rubbish; rm $1')} {{file}}"}
    environment[peers.FILES] = str(files)
    command = peers.find_peer_command(CONTEST, environment)
    assert command is not None
    assert command[1:] == ["input.txt"]
    assert hold(files, command).peer.cost is not None
    assert [path.name for path in files.iterdir()] == ["input.txt"]


def test_what_is_missing_is_said_in_one_line_each(files: Path) -> None:
    good = {PEER.variable: "fake {file}", peers.FILES: str(files)}
    assert peers.list_obstacles(CONTEST, good) == []
    for environment, said in (
        ({}, ["FDVERIFY_PEER_FAKE", "FDVERIFY_PEER_FILES"]),
        ({peers.FILES: str(files)}, ["set FDVERIFY_PEER_FAKE"]),
        ({PEER.variable: "fake {file}"}, ["set FDVERIFY_PEER_FILES"]),
        ({**good, PEER.variable: "fake"}, ["has no {file}"]),
        ({**good, peers.FILES: "/nowhere"}, ["there is no input.txt"]),
    ):
        lines = peers.list_obstacles(CONTEST, environment)
        assert len(lines) == len(said)
        assert all(text in line for text, line in zip(said, lines, strict=True))
        assert peers.find_peer_command(CONTEST, environment) is None


def test_a_contest_without_a_peer_has_our_time_alone(files: Path) -> None:
    result = peers.hold_contest(CONTEST, None, OURS, files, repeats=1)
    assert result.peer == Side(None)
    assert result.ours.cost is not None
    assert peers.write_table([result])[-1].startswith("| work | Fake | – | ")


@pytest.mark.parametrize(
    ("target", "is_missed"),
    [
        (Target(wall=4, cpu=3), False),
        (Target(wall=4.1), True),
        (Target(cpu=3.1), True),
        (Target(own_cpu=1), False),
        (Target(own_cpu=0.9), True),
    ],
)
def test_a_missed_target_is_marked(target: Target, is_missed: bool) -> None:
    contest = Contest("work", PEER, "input.txt", "fdverify --version", target)
    result = ContestResult(contest, Side(Cost(8, 3, 10)), Side(Cost(2, 1, 20)))
    assert peers.write_table([result])[-1] == (
        f"| work | Fake | 8.00 (3.00) | 2.00 (1.00) | 4.0 (3.0) | {target.describe()}{', missed' * is_missed} |"
    )


def test_what_was_not_measured_misses_nothing() -> None:
    assert not Target(wall=4).is_missed(None, Cost(2, 1, 20))
    assert not Target(own_cpu=1).is_missed(Cost(8, 3, 10), None)
    assert Target(own_cpu=0.5).is_missed(None, Cost(2, 1, 20))


def run_script(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "peers.py"), "--repeats", "1", *options]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FDVERIFY_PEER_")}
    return subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True)


def test_without_peers_ours_is_measured_and_nothing_is_written(tmp_path: Path) -> None:
    done = run_script("--only", "reliable", "--page", str(tmp_path / "peers.md"))
    assert done.returncode == 0
    assert "ByMC is not measured: set FDVERIFY_PEER_BYMC" in done.stdout
    assert "| threshold check, reliable broadcast | ByMC | – | " in done.stdout
    assert not (tmp_path / "peers.md").exists()


@pytest.mark.slow
def test_the_page_has_every_contest(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "fd_sa_fnc.ivy").write_text("")
    page = tmp_path / "peers.md"
    done = run_script(
        "--page", str(page), FDVERIFY_PEER_IVY="echo OK {file}", FDVERIFY_PEER_FILES=str(tmp_path / "files")
    )
    assert done.returncode == 0
    assert all(contest.what in page.read_text() for contest in peers.CONTESTS)


def test_the_page_says_how_to_measure_again() -> None:
    page = peers.write_page(["| the table |"], ["The machine was busy."], repeats=3)
    assert "| the table |" in page
    assert "The machine was busy." in page
    for name in (*(peer.variable for peer in peers.PEERS), *(contest.file for contest in peers.CONTESTS), peers.FILES):
        assert f"`{name}`" in page


def test_the_help_names_every_variable_and_file() -> None:
    said = run_script("--help").stdout
    for name in (*(peer.variable for peer in peers.PEERS), *(contest.file for contest in peers.CONTESTS), peers.FILES):
        assert name in said


def test_every_contest_runs_a_command_of_ours() -> None:
    for contest in peers.CONTESTS:
        name, *arguments = contest.ours.split()
        assert name in ("fdverify", "verify-invariant")
        assert all((ROOT / word).exists() for word in arguments if "/" in word)
