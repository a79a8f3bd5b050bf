"""A page of documentation as what its reader does: write files, run commands, and see what is shown."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.in_process import call_command

ROOT = Path(__file__).parents[1]
CONSOLE = re.compile(r"```console\n\$ (.*?)\n(.*?)```", flags=re.DOTALL)
_STEP = re.compile(
    rf"{CONSOLE.pattern}|(?P<add>[Aa]dd to )?`(?P<name>[\w/.]+)`:\n\n```(?:python|toml)\n(?P<text>.*?)```",
    flags=re.DOTALL,
)
_FOR_A_SHELL = re.compile(r"[|&;<>$`#*?\n]")
_NOT_OURS = ("FORCE_COLOR", "COLUMNS", "CI", "BUILD_NUMBER", "PYTEST_ADDOPTS")
"""What in the environment would change the output."""


@dataclass(frozen=True)
class Command:
    line: str
    output: str
    """What it prints, without times."""


@dataclass(frozen=True)
class File:
    """A block of code below a line that ends with the file's name, or with "Add to" and the name."""

    name: str
    text: str
    added: bool


def steps(page: str) -> list[Command | File]:
    """What the reader of a page does, in order."""
    found: list[Command | File] = []
    for match in _STEP.finditer(page):
        if match["name"] is None:
            found.append(Command(match[1], timeless(match[2])))
        else:
            found.append(File(match["name"], match["text"], match["add"] is not None))
    return found


def read_tables(page: str) -> Iterator[dict[str, str]]:
    """Read the rows of all tables, by their headings."""
    heads: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            heads = []
        elif not heads:
            heads = cells
        elif not line.startswith("| ---"):
            yield dict(zip(heads, cells, strict=True))


def timeless(text: str) -> str:
    """Without seconds, before an s or in a table's last column, and without what was cached, which depends on them.

    Of two proofs that are checked beside each other, one may use what the other has just shown.
    """
    text = re.sub(r" +\d+ │ +\d+\.\d+ │$", " … │ … │", text, flags=re.MULTILINE)
    return re.sub(r"\d+\.\d+(?= ?s\b| │$)", "…", text, flags=re.MULTILINE)


def workplace(folder: Path) -> Path:
    """A folder that looks like the top of the repository to commands, and can be written to."""
    for name in ("examples", "invariants"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def run(line: str, folder: Path, cache: Path, scripts: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a line as its reader would, with the commands of ``scripts`` and nothing cached before."""
    path = f"{scripts or Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_OURS}
    environment |= {"PATH": path, "XDG_CACHE_HOME": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True)


def call(line: str, folder: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as ``run`` does, but in this process if it is one command and nothing for a shell."""
    words = shlex.split(line)
    if words[0] not in ("fdverify", "verify-invariant") or _FOR_A_SHELL.search(line):
        return run(line, folder, cache)
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_OURS}
    done = call_command(words[0], words[1:], {**kept, "XDG_CACHE_HOME": str(cache)}, folder)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def printed(done: subprocess.CompletedProcess[str]) -> str:
    """What a command says, without times: its output, and what it complains of; not its progress."""
    errors = [line for line in done.stderr.splitlines(keepends=True) if line.startswith("error: ")]
    return timeless(done.stdout + "".join(errors))


def write(file: File, folder: Path) -> None:
    path = folder / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text() if file.added else "") + file.text)
