"""Run commands, and read what they print."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.in_process import call_command
from tests.launch import launch

COMMANDS = ("explore", "bmc", "induct", "live", "simulate")
ESCAPE = "\x1b"
_PROGRESS = re.compile(r"((explore|bmc|induct|live|simulate): depth \d+(, \d+ states)?|map: \d+ of \d+ cells), \d+ s")
_DECIDES_LOOKS = {"NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM", "COLUMNS", "LINES"}


class Outcome(NamedTuple):
    code: int
    stdout: str
    stderr: str


def environment(**more: str) -> dict[str, str]:
    """The environment without what decides about looks, and without bytecode beside the files that are loaded."""
    kept = {name: value for name, value in os.environ.items() if name not in _DECIDES_LOOKS}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(
    *arguments: str, name: str = "fdverify", cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Outcome:
    """Run a command, in this process if it forks no workers."""
    return _decode(call_command(name, arguments, environment() if env is None else env, cwd))


def run_script(
    *arguments: str | bytes,
    name: str = "fdverify",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    at_start: Callable[[], None] | None = None,
) -> Outcome:
    """Run a command in a process of its own, with its supervisor, for what would disturb the process of the tests."""
    return _decode(launch(name, arguments, environment() if env is None else env, cwd, at_start))


def _decode(done: subprocess.CompletedProcess[bytes]) -> Outcome:
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def found(*arguments: str, cwd: Path | None = None) -> tuple[int, Any]:
    """The exit code and the JSON document, which must be all that is on stdout."""
    outcome = run(*arguments, "--json", cwd=cwd)
    assert odd_lines(outcome.stderr) == []
    return outcome.code, json.loads(outcome.stdout)


def odd_lines(stderr: str) -> list[str]:
    """What is on stderr besides progress, which a slow machine shows and a fast one does not."""
    return [line for line in stderr.splitlines() if not _PROGRESS.fullmatch(line)]


def table_cells(text: str) -> list[list[str]]:
    """The cells of a step table's rows, headings left out, escape codes kept."""
    rows = [line for line in text.splitlines() if line.lstrip().startswith("│")]
    return [[cell.strip() for cell in row.strip().strip("│").split("│")] for row in rows]
