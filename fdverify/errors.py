"""What can go wrong, as one line for the person at the terminal and one exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fdverify.printable import printable


def nearby(file: str | Path) -> Path:
    """A file as people write it: below the working directory, relative to it."""
    path = Path(file)
    try:
        return path.relative_to(Path.cwd())
    except (ValueError, OSError):  # it lies elsewhere, or the working directory is gone
        return path


def located(file: str | Path, line: int) -> str:
    return f"{nearby(file)}:{line}"


class FdverifyError(Exception):
    """An error with a message fit to be shown alone; ``exit_code`` is what the process ends with."""

    exit_code = 70

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """One line, whatever the names in it contain."""
        return printable(self.message if self.hint is None else f"{self.message} (hint: {self.hint})")


class UsageError(FdverifyError):
    """Bad input: an option, an expression, a file, a model."""

    exit_code = 2


class NoInstance(UsageError):
    """These values of the parameters make no instance: one that is defined by the others is too small, say."""


class InternalError(FdverifyError):
    """The tool contradicts itself, such as a replay that does not confirm the solver's run."""


def check_interpreter() -> None:
    """Refuse to run without assertions or docstrings: claims are told by the latter, and the former guard verdicts."""
    if sys.flags.optimize:
        raise UsageError(
            "Python runs optimised, without the assertions and docstrings that proofs rest on",
            "leave out -O and -OO, and unset PYTHONOPTIMIZE",
        )


def did_you_mean(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
