"""Every command's help has examples, and they work."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from fdverify.app import build_app, list_products
from fdverify.detectors.model_catalogue import DEFAULT
from fdverify.verify_invariant import build_app as build_verify_invariant
from tests.pages import ROOT, call, workplace
from tests.sampling import choose, every

LONG = {
    "fdverify bounds accuracy": "explores many instances",
    "fdverify bounds detection": "explores many instances",
    "fdverify cutoff chandra-toueg --property strong-accuracy --second-opinion cvc5": "asks two solvers",
    "fdverify infer": "searches for invariants",
    "fdverify map --delta 0..12": "explores many instances",
    "fdverify threshold table": "checks all that is published",
    "verify-invariant invariants": "checks all that ships",
    "verify-invariant --shipped": "checks all that ships",
    "verify-invariant examples/first_attempt.py --suggest": "searches for conjuncts",
}
"""How examples begin that are run by make test-full, and only parsed by make test."""


def program(name: str, model: str = DEFAULT) -> Any:
    return typer.main.get_command(build_app(model, list_products()) if name == "fdverify" else build_verify_invariant())


def commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The command and all below it, by how they are called."""
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(f"{path} {name}", below)


def examples(command: Any) -> list[str]:
    """The lines below "Examples:", as they stand in what --help prints."""
    with typer.Context(command) as context:
        lines = iter(command.get_help(context).splitlines())
    for line in lines:
        if line == "  Examples:":
            break
    found = []
    for line in lines:
        if not line.startswith("    "):
            break
        found.append(line.strip())
    return found


COMMANDS = {
    path: command for name in ("fdverify", "verify-invariant") for path, command in commands(name, program(name))
}
EXAMPLES = {path: examples(command) for path, command in COMMANDS.items()}
LINES = list(dict.fromkeys(line for lines in EXAMPLES.values() for line in lines))
SHORT = [line for line in LINES if not any(f"{line} ".startswith(f"{start} ") for start in LONG)]


@pytest.mark.parametrize("path", COMMANDS)
def test_help_has_examples_of_the_command(path: str) -> None:
    assert EXAMPLES[path], f"give {path} an epilog(...) with an example"
    assert all(f"{line} ".startswith(f"{path} ") for line in EXAMPLES[path])


@pytest.mark.parametrize("path", COMMANDS)
def test_help_tells_the_exit_codes(path: str) -> None:
    assert "\n\nExit codes: 0 " in COMMANDS[path].epilog


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_understood(line: str) -> None:
    """All of it is parsed, and in place of what the command does, nothing is done."""
    name, *arguments = shlex.split(line)
    model = next((word for word in arguments if ".py:" in word and arguments[0] != "cutoff"), DEFAULT)
    root = program(name, model)
    for _, command in commands(name, root):
        command.callback = lambda **given: None
    assert not root(arguments, prog_name=name, standalone_mode=False)


@pytest.mark.parametrize("line", choose(full=LINES, sample=every(9, SHORT)))
def test_an_example_works(line: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    done = call(line, workplace(tmp_path / "work"), tmp_path / "cache")
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout


def test_what_is_long_is_there() -> None:
    assert all(any(f"{line} ".startswith(f"{start} ") for line in LINES) for start in LONG)


@pytest.mark.parametrize("line", LINES)
def test_files_of_an_example_are_there(line: str) -> None:
    for word in shlex.split(line):
        if word.startswith(("examples/", "invariants")):
            assert (ROOT / word.partition(":")[0]).exists()
