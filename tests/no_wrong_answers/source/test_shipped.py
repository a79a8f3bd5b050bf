"""What ships, the examples, the models of the guides and those of the tests are all read, and nothing is refused."""

from pathlib import Path

import pytest

from fdverify.author_code.source.source_reader import check_sources
from fdverify.models.loading import load_module
from tests.engines import small
from tests.no_wrong_answers.source.shipped import ROOT, functions_in, functions_of
from tests.pages import File, steps, workplace, write
from tests.runs import asking

PROOFS = sorted((ROOT / "invariants").rglob("[!_]*.py"))
EXAMPLES = [
    path
    for path in sorted((ROOT / "examples").rglob("*.py"))
    if path.parent.name not in ("threshold", "dialog") and not path.name.startswith("test_")
]
TEMPLATES = sorted((ROOT / "fdverify" / "templates").glob("*.py"))

MISTAKEN = ("mistakes.py",)
"""Files that a guide has written to show what is refused."""


@pytest.mark.parametrize("path", [*PROOFS, *EXAMPLES, *TEMPLATES], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_ships_is_read_and_nothing_is_refused(path: Path) -> None:
    assert check_sources(functions_in(load_module(path))) == ()


@pytest.mark.parametrize("page", ["own-detector.md", "first-proof.md"])
def test_the_models_of_a_guide_are_read(page: str, tmp_path: Path) -> None:
    folder = workplace(tmp_path)
    read = 0
    for step in steps((ROOT / "docs" / "tutorial" / page).read_text()):
        if isinstance(step, File):
            write(step, folder)
            if step.name.endswith(".py") and step.name not in MISTAKEN:
                functions = list(functions_in(load_module(folder / step.name)))
                assert check_sources(functions) == ()
                read += len(functions)
    assert read > 10


def test_the_models_of_the_tests_are_read() -> None:
    counting = small.counter(small.up_to_limit, lambda s: s.x <= s.limit)
    stuck = small.counter(small.until_stuck, lambda s: s.x <= s.limit)
    for system in (counting, stuck, small.defined("limit+1", None), asking.asking(2)):
        assert check_sources(functions_of(system)) == ()
