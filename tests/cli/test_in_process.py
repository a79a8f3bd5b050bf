"""A command that runs in the process of a test leaves nothing behind in it."""

import os
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import z3

from fdverify.author_code.source import source_files
from tests.cli import written_proofs as files
from tests.cli.script import environment, run

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = (
    ("fdverify", ("explore", "detectors.py:STUBBORN", "--delta", "1", "--phi", "1")),
    ("fdverify", ("simulate", "--delta", "1", "--phi", "1", "--depth", "2")),
    ("fdverify", ("explore", "--no-such-option")),
    ("verify-invariant", ("proof.py", "--only", "bounded-init")),
)
KEPT = (source_files._parsed, source_files._nodes)
"""Their keys are contents, which mean the same in every command."""


def package() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "fdverify"}


def variables() -> dict[tuple[str, str], Any]:
    """What the modules of the package keep, by module and name."""
    return {
        (module, name): sorted(map(repr, value))
        for module, content in package().items()
        for name, value in vars(content).items()
        if isinstance(value, dict | list | set)
        and not name.startswith("__")
        and not any(value is kept for kept in KEPT)
    }


def run_all(folder: Path) -> None:
    """Run the commands on new files."""
    folder.mkdir()
    (folder / "detectors.py").write_text((EXAMPLES / "broken_detectors.py").read_text())
    (folder / "proof.py").write_text(files.GOOD)
    for name, arguments in COMMANDS:
        run(*arguments, name=name, cwd=folder, env=environment(MARK="set", XDG_CACHE_HOME=str(folder / "cache")))


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    run_all(tmp_path / "first")  # imports what is imported when it is used
    modules, path, streams = set(sys.modules), list(sys.path), (sys.stdin, sys.stdout, sys.stderr)
    before, interrupt, folder = variables(), signal.getsignal(signal.SIGINT), Path.cwd()
    context = z3.main_ctx()
    run_all(tmp_path / "second")
    assert variables() == before
    assert set(sys.modules) == modules
    assert (sys.path, (sys.stdin, sys.stdout, sys.stderr)) == (path, streams)
    assert (signal.getsignal(signal.SIGINT), Path.cwd()) == (interrupt, folder)
    assert z3.main_ctx() is context
    assert "MARK" not in os.environ


def test_a_file_is_run_anew_by_each_command(tmp_path: Path) -> None:
    (tmp_path / "proof.py").write_text(f"import sys\nprint('loaded', file=sys.stderr)\n{files.GOOD}")
    for _ in range(2):
        outcome = run("proof.py", "--only", "bounded-init", name="verify-invariant", cwd=tmp_path)
        assert "loaded" in outcome.stderr


def test_what_python_reads_at_its_start_is_refused() -> None:
    with pytest.raises(AssertionError, match="run a script"):
        run("--version", env=environment(PYTHONOPTIMIZE="1"))
