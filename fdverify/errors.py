"""What can go wrong, as one line for the person at the terminal and one exit code."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator, Mapping, Sequence
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
    message = ""
    hint: str | None = None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message if isinstance(message, str) else one_line(message)  # an author may raise it, too
        self.hint = hint

    def __str__(self) -> str:
        """One line, whatever the names in it contain."""
        return printable(self.message if self.hint is None else f"{self.message} (hint: {self.hint})")


class UsageError(FdverifyError):
    """Bad input: an option, an expression, a file, a model."""

    exit_code = 2


class NoInstance(UsageError):
    """These values of the parameters make no instance: one that is defined by the others is too small, say."""


class Exhausted(FdverifyError):
    """The system has no more memory, processes or files to give, so nothing is known."""

    exit_code = 3


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed; a user's file may raise KeyboardInterrupt, too."""


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


_LONGEST = 500


def one_line(thing: object) -> str:
    """A thing's text, in one line that is not too long; an author's class may have a text that fails."""
    try:
        text = " ".join(str(thing).split())
    except Interrupted:
        raise
    except BaseException:
        text = "(its text cannot be made)"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def class_name(error: BaseException) -> str:
    """The name of its class, whatever that class says of itself."""
    name: str = type.__dict__["__name__"].__get__(type(error))
    return one_line(name)


def describe(error: BaseException) -> str:
    """An unexpected error in one line: what, and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{class_name(error)}: {one_line(error)}{where}"


def reasons(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that it came of."""
    seen: set[int] = set()  # an author's class may say of itself what it equals
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def file_fault(error: BaseException) -> UsageError | None:
    """What is wrong with a file that the system would not open, look at or write."""
    if not isinstance(error, OSError) or error.filename is None:
        return None
    return UsageError(f"{one_line(nearby(str(error.filename)))}: {error.strerror}")


_EXHAUSTED = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
_EXHAUSTED_TEXTS = (
    "out of memory",
    "cannot allocate memory",
    "failed to map segment",
    "libz3",  # it is there, and cannot be loaded
    "too many open files",
    "can't start new thread",
)


def exhaustion(error: BaseException) -> str | None:
    """What the system has run out of, if an error came of that."""
    for each in reasons(error):
        if isinstance(each, MemoryError):
            return "out of memory"
        if isinstance(each, OSError) and each.errno in _EXHAUSTED:
            return f"the system refuses: {each.strerror}"
        if isinstance(each, Exception) and not isinstance(each, FdverifyError):
            text = one_line(each)
            if any(part in text.lower() for part in _EXHAUSTED_TEXTS):
                return f"the system refuses: {text}"
    return None
