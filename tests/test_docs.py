"""The README and the pages it leads to: commands print what is shown, code and figures are the files'."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.follow_readme import follow
from tests.pages import CONSOLE, ROOT, Command, File, call, printed, read_tables, steps, workplace, write
from tests.sampling import choose, every

README = ROOT / "README.md"
DOCS = ROOT / "docs"
WITH_CODE = {
    README: 2,
    DOCS / "how-to" / "parts.md": 4,
    DOCS / "how-to" / "pytest.md": 2,
    DOCS / "reference" / "threshold.md": 1,
}
"""How many examples each shows at least."""
IN_ORDER = (DOCS / "tutorial" / "own-detector.md", DOCS / "tutorial" / "first-proof.md")
"""Their readers write files, and run what they have written."""
ALONE = (
    README,
    *(page for page in sorted(DOCS.rglob("*.md")) if page not in IN_ORDER and CONSOLE.search(page.read_text())),
)
"""Their commands are run at the top of the repository, in any order."""
PAGES = (*ALONE, *IN_ORDER)
LONG = ("fdverify bounds accuracy", "fdverify cutoff", "fdverify infer", "verify-invariant invariants")
"""How commands begin that are left to make test-full; what ships is checked elsewhere."""

BLOCKS = dict.fromkeys(step for page in ALONE for step in steps(page.read_text()) if isinstance(step, Command))
IN_README = [step for step in steps(README.read_text()) if isinstance(step, Command)]
OTHERS = [command for command in BLOCKS if command not in IN_README]
TRIED = (*IN_README, *every(12, OTHERS))
SHOWN = choose(full=TRIED, sample=tuple(command for command in TRIED if not command.line.startswith(LONG)))


@pytest.mark.parametrize("command", SHOWN, ids=[command.line for command in SHOWN])
def test_a_command_prints_what_is_shown(command: Command, tmp_path: Path) -> None:
    assert printed(call(command.line, ROOT, tmp_path)) == command.output


@pytest.mark.slow
@pytest.mark.parametrize("page", every(2, IN_ORDER), ids=lambda page: page.name)
def test_a_reader_who_does_all_of_it_sees_what_is_shown(page: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    folder = workplace(tmp_path / "work")
    for step in steps(page.read_text()):
        if isinstance(step, File):
            write(step, folder)
        else:
            assert printed(call(step.line, folder, tmp_path / "cache")) == step.output, step.line


def test_who_follows_a_readme_is_told_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = ("sh\ntrue   # sets up\nfalse  # does not\n", "console\n$ echo 0.1 s\n0.2 s\n", "console\n$ echo two\n2\n")
    (tmp_path / "README.md").write_text("\n".join(f"```{block}```" for block in blocks))
    (tmp_path / "cache").mkdir()
    assert follow(tmp_path, tmp_path / "cache", everything=True) == 2
    told = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert told == [
        "as shown: true   # sets up",
        "differs: false  # does not",
        "as shown: echo 0.1 s",
        "differs: echo two",
    ]


@pytest.mark.parametrize("page", IN_ORDER, ids=lambda page: page.name)
def test_every_block_of_code_is_written_to_a_file(page: Path) -> None:
    text = page.read_text()
    assert len(re.findall(r"^```(?:python|toml)$", text, flags=re.MULTILINE)) == sum(
        isinstance(step, File) for step in steps(text)
    )


def test_the_reference_of_the_command_line_is_what_the_code_says(tmp_path: Path) -> None:
    """Whatever the terminal: what differs is written anew by make docs."""
    command = [sys.executable, str(DOCS / "write_cli.py"), str(tmp_path / "cli.md")]
    subprocess.run(command, check=True, env={**os.environ, "COLUMNS": "40", "FORCE_COLOR": "1"})
    assert (tmp_path / "cli.md").read_text() == (DOCS / "reference" / "cli.md").read_text()


def test_the_index_has_every_page() -> None:
    index = (DOCS / "README.md").read_text()
    assert sorted(re.findall(r"^\| \[.*?\]\((?:[\w-]+/)?(\w[\w-]*\.md)\)", index, flags=re.MULTILINE)) == sorted(
        page.name for page in DOCS.rglob("*.md") if page.name != "README.md"
    )


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
    """The README may leave out columns."""
    shown = list(read_tables(README.read_text().split("## Measured")[1].split("## ")[0]))
    measured = list(read_tables((DOCS / "reference" / "performance.md").read_text()))
    assert len(shown) > 2
    assert [row for row in shown if not any(row.items() <= other.items() for other in measured)] == []


@pytest.mark.parametrize("page", [README, *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (page.parent / target).exists(), target
