"""The errors of this package: each has a one-line message for the user and an exit code."""

from __future__ import annotations

import errno
import re
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from fdverify.printable import make_printable


def shorten_path(file: str | Path) -> Path:
    """Make a path relative to the working directory if it lies below it."""
    path = Path(file)
    try:
        return path.relative_to(Path.cwd())
    except (ValueError, OSError):  # the path lies elsewhere, or the working directory is gone
        return path


class SourceLocation(NamedTuple):
    """A file, and the line and the column in it if they are known."""

    file: Path
    line: int | None = None
    column: int | None = None

    @classmethod
    def from_code(cls, code: CodeType) -> SourceLocation:
        """Locate the first line of a function, which may be that of a decorator."""
        return cls(Path(code.co_filename), code.co_firstlineno)

    @classmethod
    def from_frame(cls, frame: FrameType) -> SourceLocation:
        """Locate the line that a frame is at."""
        return cls(Path(frame.f_code.co_filename), frame.f_lineno)

    def __str__(self) -> str:
        return ":".join(str(part) for part in (shorten_path(self.file), self.line, self.column) if part is not None)


def format_location(file: str | Path, line: int) -> str:
    return str(SourceLocation(Path(file), line))


class FdverifyError(Exception):
    """An error whose message can be shown without a traceback; the process ends with ``exit_code``."""

    exit_code = 70
    message = ""
    hint: str | None = None
    place: SourceLocation | None = None

    def __init__(self, message: str, hint: str | None = None, place: SourceLocation | None = None) -> None:
        # An author may raise it with any objects, which may not be picklable.
        self.message = message if isinstance(message, str) else format_one_line(message)
        self.hint = hint if hint is None or isinstance(hint, str) else format_one_line(hint)
        self.place = place if isinstance(place, SourceLocation) else None
        super().__init__(self.message, self.hint)  # attributes are pickled, too: a subclass need not take a place

    @property
    def placed_message(self) -> str:
        """The place, if there is one, and the message."""
        return self.message if self.place is None else f"{self.place}: {self.message}"

    def __str__(self) -> str:
        """Return one printable line, whatever the names in it contain."""
        text = self.placed_message
        return make_printable(text if self.hint is None else f"{text} (hint: {self.hint})")


class UsageError(FdverifyError):
    """Bad input: an option, an expression, a file, a model."""

    exit_code = 2


class NoInstance(UsageError):
    """The values of the parameters give no instance, for example because a derived parameter is too small."""


class NameClash(UsageError):
    """Two definitions have one name.  The message names the places of both; ``place`` is that of the second."""

    @property
    def placed_message(self) -> str:
        return self.message


class ResourcesExhausted(FdverifyError):
    """The system has run out of memory, processes or files, so the result is unknown."""

    exit_code = 3


class UserInterrupt(KeyboardInterrupt):
    """Ctrl-C was pressed; a plain KeyboardInterrupt may come from a user's file."""


class InternalError(FdverifyError):
    """The tool contradicts itself; for example, a replay does not confirm the solver's run."""


def find_python_place(error: FdverifyError) -> SourceLocation | None:
    """Return the place of an error if it is in a Python file; code without a file is in ``<string>`` or the like."""
    place = error.place  # an author's class may have any value here
    return place if isinstance(place, SourceLocation) and place.file.suffix == ".py" else None


def find_python_line(error: FdverifyError) -> SourceLocation | None:
    """Return the place of an error if it is a line of a Python file."""
    place = find_python_place(error)
    return None if place is None or place.line is None else place


def add_place(error: UsageError, place: SourceLocation) -> UsageError:
    """Return the same error with this place, or the error itself if it has a place in a Python file."""
    if find_python_place(error) is not None:
        return error
    return UsageError(error.placed_message, error.hint, place)


def check_interpreter() -> None:
    """Refuse to run without assertions, which guard verdicts, or docstrings, which hold the meanings of claims."""
    if sys.flags.optimize:
        raise UsageError(
            "Python runs optimised, without the assertions and docstrings that proofs rest on",
            "leave out -O and -OO, and unset PYTHONOPTIMIZE",
        )


def suggest_name(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"


_LONGEST = 500


def format_one_line(value: object) -> str:
    """Convert an object to one line of limited length, even if its ``__str__`` fails."""
    try:
        text = " ".join(str(value).split())
    except UserInterrupt:
        raise
    except BaseException:
        text = "(its text cannot be computed)"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def get_class_name(error: BaseException) -> str:
    """Return the name of the error's class, even if the class overrides ``__name__``."""
    name: str = type.__dict__["__name__"].__get__(type(error))
    return format_one_line(name)


def describe_error(error: BaseException) -> str:
    """Describe an unexpected error in one line: its class, its message, and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    location = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{get_class_name(error)}: {format_one_line(error)}{location}"


def iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Iterate over an error and its causes."""
    seen: set[int] = set()  # by identity: an author's class may redefine equality
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def convert_file_error(error: BaseException) -> UsageError | None:
    """Convert an ``OSError`` about a file into a usage error; return ``None`` for any other error."""
    if not isinstance(error, OSError) or error.filename is None:
        return None
    return UsageError(f"{format_one_line(shorten_path(str(error.filename)))}: {error.strerror}")


_EXHAUSTED = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
_EXHAUSTED_TEXTS = (
    "out of memory",
    "cannot allocate memory",
    "failed to map segment",
    "libz3",  # the library is installed but cannot be loaded
    "too many open files",
    "can't start new thread",
)


def _is_lost_memory_error(error: BaseException) -> bool:
    """Tell whether Python has failed without saying how, as it sometimes does where it may not have more memory."""
    return (
        isinstance(error, SystemError)
        and re.search("without (exception set|setting an exception)", str(error)) is not None
        and resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    )


def find_exhausted_resource(error: BaseException) -> str | None:
    """Return which resource has run out, if that caused the error."""
    for cause in iterate_causes(error):
        if isinstance(cause, MemoryError) or _is_lost_memory_error(cause):
            return "out of memory"
        if isinstance(cause, OSError) and cause.errno in _EXHAUSTED:
            return f"the system refuses: {cause.strerror}"
        if isinstance(cause, Exception) and not isinstance(cause, FdverifyError):
            text = format_one_line(cause)
            if any(part in text.lower() for part in _EXHAUSTED_TEXTS):
                return f"the system refuses: {text}"
    return None
