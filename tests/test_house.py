"""The house: one name for a thing, one thing for a name; pages that a newcomer can read."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = [path for path in sorted((ROOT / "fdverify").rglob("*.py")) if "templates" not in path.parts]
SHARED_NAMES = ("__init__", "report", "command")
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
GENERATED = ("cli.md", "peers.md", "performance.md", "tables.md", "test-record.md")
MOST_WORDS = 1800


def classes() -> Iterator[str]:
    for path in PACKAGE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield node.name.lstrip("_")


def test_no_class_name_has_two_meanings() -> None:
    assert [name for name, number in Counter(classes()).items() if number > 1] == []


def test_no_module_name_is_used_twice() -> None:
    names = Counter(path.stem for path in PACKAGE if path.stem not in SHARED_NAMES)
    assert [name for name, number in names.items() if number > 1] == []


def test_every_module_says_what_it_is_for() -> None:
    assert [path for path in PACKAGE if not ast.get_docstring(ast.parse(path.read_text()))] == []


def test_the_list_of_modules_is_renewed(tmp_path: Path) -> None:
    """What differs is written anew by make docs."""
    subprocess.run([sys.executable, str(ROOT / "docs" / "write_modules.py"), str(tmp_path / "page.md")], check=True)
    assert (tmp_path / "page.md").read_text() == (ROOT / "ARCHITECTURE.md").read_text()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= MOST_WORDS


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in GENERATED], ids=lambda page: page.name)
def test_a_page_has_one_sentence_a_line(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"`[^`\n]*`|\([^()\n]*\)", "x", prose)
    ends = re.compile(r"[a-z)x][.!?] +(?=[A-Z])")
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "#")) and ends.search(line)]
    assert lines == []
