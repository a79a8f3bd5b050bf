"""The README is what a new user believes: its commands print what it shows, its code and figures are the files'."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
SHOWN = re.findall(r"```console\n\$ (.*?)\n(.*?)```", README, flags=re.DOTALL)


def timeless(text: str) -> str:
    """Without seconds: at the end of a line, or in the last column of a table of proofs."""
    return re.sub(r"\d+\.\d(?= s\b| │$)", "…", text, flags=re.MULTILINE)


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_the_readme_shows(command: str, output: str, tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("FORCE_COLOR", None)
    found = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert timeless(found.stdout) == timeless(output)


def test_there_are_commands_to_run() -> None:
    assert len(SHOWN) >= 5


def test_the_code_shown_is_the_examples() -> None:
    shown = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert shown == [(ROOT / "examples" / name).read_text() for name in ("first_attempt.py", "first_proof.py")]


def test_the_figures_are_those_of_the_benchmarks() -> None:
    measured = README.split("## Measured")[1].split("## ")[0]
    lines = [line for line in measured.splitlines() if line.startswith("|")]
    assert len(lines) > 2
    performance = (ROOT / "docs" / "performance.md").read_text().splitlines()
    assert set(lines) <= set(performance)


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target
