"""The README and the pages it leads to: commands print what is shown, code and figures are the files'."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
WITH_CODE = {README: 2, ROOT / "docs" / "pytest.md": 2, ROOT / "docs" / "threshold.md": 1}
"""How many examples each shows at least."""
PAGES = (
    *WITH_CODE,
    *(ROOT / "docs" / name for name in ("liveness.md", "map.md", "suggest.md", "bounds.md", "detectors.md")),
)
CONSOLE = re.compile(r"```console\n\$ (.*?)\n(.*?)```", flags=re.DOTALL)
NOT_OURS = ("FORCE_COLOR", "COLUMNS", "CI", "BUILD_NUMBER", "PYTEST_ADDOPTS")
"""What in the environment would change the output."""


def timeless(text: str) -> str:
    """Without seconds: before an s, or in the last column of a table of proofs."""
    return re.sub(r"\d+\.\d+(?= ?s\b| │$)", "…", text, flags=re.MULTILINE)


BLOCKS = [block for page in PAGES for block in CONSOLE.findall(page.read_text())]
SHOWN = list(dict.fromkeys((command, timeless(output)) for command, output in BLOCKS))


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_is_shown(command: str, output: str, tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    environment |= {"PATH": path, "XDG_CACHE_HOME": str(tmp_path)}
    found = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert timeless(found.stdout) == output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_there_is_something_to_run_on_every_page(page: Path) -> None:
    assert len(CONSOLE.findall(page.read_text())) >= 2


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_the_code_shown_is_the_examples(page: Path) -> None:
    shown = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    examples = {path.read_text() for path in (ROOT / "examples").rglob("*.py")}
    assert len(shown) >= WITH_CODE[page]
    assert set(shown) <= examples


def test_the_figures_are_those_of_the_benchmarks() -> None:
    measured = README.read_text().split("## Measured")[1].split("## ")[0]
    lines = [line for line in measured.splitlines() if line.startswith("|")]
    assert len(lines) > 2
    performance = (ROOT / "docs" / "performance.md").read_text().splitlines()
    assert set(lines) <= set(performance)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (page.parent / target).exists(), target
