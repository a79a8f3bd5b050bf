"""Streams that are closed, full or read by nobody: an exit code that says so, and one line if there is where."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.script import environment
from tests.launch import HANG_SECONDS, script
from tests.sampling import every

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")

COMMANDS = [
    "explore --delta 1 --phi 1",
    "--help",
    "--version",
    "explore --delta 1 --phi 1 --json",
    "new --help",
]
CLOSED = "error: cannot write to stdout: it is closed\n"
FULL = "error: cannot write to stdout: No space left on device\n"


def shell(line: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=folder,
        env=environment(PATH=f"{Path(script()).parent}:{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", every(5, COMMANDS))
@pytest.mark.parametrize(
    ("streams", "code", "said"),
    every(
        2,
        [
            (">&-", 2, CLOSED),
            ("<&- >&- 2>&-", 2, ""),
            (">/dev/full", 2, FULL),
            (">/dev/full 2>/dev/full", 2, ""),
            ("2>&-", 0, ""),
            ("2>/dev/full", 0, ""),
            ("| true", 141, ""),
            ("<&-", 0, ""),
        ],
    ),
)
def test_streams(command: str, streams: str, code: int, said: str, tmp_path: Path) -> None:
    wait = "sleep 0" if streams != "| true" else "sleep 0.5"
    assert shell(f"{{ {wait}; fdverify {command}; }} {streams}", tmp_path) == (code, said)


@pytest.mark.parametrize("streams", every(2, ["2>&-", "2>/dev/full", "<&-", "2>&1 | cat"]))
def test_bad_input_is_bad_input(streams: str, tmp_path: Path) -> None:
    assert shell(f"fdverify nonsense {streams}", tmp_path)[0] == 2


def test_a_file_that_closes_stdout(tmp_path: Path) -> None:
    (tmp_path / "closes.py").write_text("import sys\nsys.stdout.close()\nimport no_such_module\n")
    code, said = shell("fdverify explore closes.py:MODEL", tmp_path)
    assert (code, said) == (2, "error: closes.py:3: ModuleNotFoundError: No module named 'no_such_module'\n")
