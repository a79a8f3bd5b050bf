"""``fdverify new``: write a first file to work on.  Its check fails and says how to repair it."""

from __future__ import annotations

from keyword import iskeyword
from pathlib import Path
from typing import Annotated, TextIO

import typer

from fdverify.cli.commands import write_epilog
from fdverify.cli.output import print_answer
from fdverify.errors import UsageError

_TEMPLATES = Path(__file__).parent / "templates"
_PLACEHOLDER = "NAME"
_HELP = "Write a first proof, or a first model with its proof."
_PROOF = """Write NAME.py: a claim about the shipped detector, and a first attempt to prove it.

The attempt fails: verify-invariant shows the step that breaks it, and a hint.  Follow the hint to complete the proof.
An existing file is never overwritten.
"""
_MODEL = """Write NAME.py: a detector of your own, and a first attempt to prove it accurate.

The model is complete and small: parameters, variables, the phases of a round, a property, and the detector's parts.
The attempt fails: verify-invariant shows the step that breaks it, and a hint.  Follow the hint to complete the proof.
An existing file is never overwritten.
"""
_Name = Annotated[str, typer.Argument(metavar=_PLACEHOLDER, help="a Python identifier: the file's name without .py")]


def build_new_app() -> typer.Typer:
    app = typer.Typer(help=_HELP, epilog=_write_new_epilog("proof", "model"), rich_markup_mode=None)
    app.command("proof", help=_PROOF, epilog=_write_new_epilog("proof"))(_write_proof)
    app.command("model", help=_MODEL, epilog=_write_new_epilog("model"))(_write_model)
    return app


def _write_new_epilog(*kinds: str) -> str:
    return write_epilog([f"fdverify new {kind} my_{kind}" for kind in kinds], "0 written, 2 bad input")


def _write_proof(name: _Name) -> None:
    _write_template("proof", name, [])


def _write_model(name: _Name) -> None:
    _write_template("model", name, [f"fdverify explore {name}.py:DETECTOR --delta 1 --period 2"])


def _write_template(template: str, name: str, more: list[str]) -> None:
    _check_name(name)
    text = (_TEMPLATES / f"{template}.py").read_text(encoding="utf-8").replace(_PLACEHOLDER, name)
    path = Path(f"{name}.py")
    try:
        with path.open("x", encoding="utf-8") as file:
            _write_whole(file, text)
    except FileExistsError:
        raise UsageError(f"{path} already exists", "choose another name") from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    commands = [f"verify-invariant {path}", *more]
    print_answer(f"wrote {path}\n" + "".join(f"next: {command}\n" for command in commands))


def _write_whole(file: TextIO, text: str) -> None:
    """Write the whole text, or remove the file."""
    try:
        file.write(text)
        file.flush()
    except OSError:
        Path(file.name).unlink()
        raise


def _check_name(name: str) -> None:
    """Refuse a name that is not a module name, or that pytest or this tool takes for another kind of file."""
    if not name.isidentifier() or iskeyword(name):
        raise UsageError(f"{name!r} is not the name of a Python module", "use letters, digits and _")
    if name.startswith("_"):
        raise UsageError(f"{name}.py would not be checked: files whose names start with _ are helper modules")
    if name == "conftest" or name.startswith("test_") or name.endswith("_test"):
        raise UsageError(f"pytest would take {name}.py for one of its own files", "choose another name")
