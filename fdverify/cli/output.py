"""What commands share: writing to stdout and to files, and refusing what cannot be done."""

from __future__ import annotations

import math
import os
import sys
from io import TextIOWrapper
from pathlib import Path

from fdverify.cli.line import announce_answer
from fdverify.cli.streams import stdout_error
from fdverify.errors import UsageError
from fdverify.storage import write_whole

SYMBOLIC = "symbolic"


def print_out(text: str) -> None:
    """Write to stdout, and learn now, not at exit, whether it can be written."""
    announce_answer()
    try:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # what was found is told in any encoding
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Whatever is left in Python's own buffer must not be tried again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise stdout_error(error) from error
    except ValueError as error:  # a user's file closed it
        raise UsageError(f"cannot write to stdout: {error}") from error


def check_writable(path: Path) -> None:
    """Refuse before the work what would fail after it."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(f"cannot write {path}")


def check_report(path: Path, about: Path | None = None) -> None:
    """Refuse, for a report, a file that somebody has written: the report's own name may have been left out."""
    check_writable(path)
    if path.suffix == ".py" or (about is not None and path.resolve() == about.resolve()):
        raise UsageError(f"a report is not written to {path}", "was the name of the report left out?")


def write_file(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def write_page(path: Path, document: str) -> None:
    """Write a JSON document as a page."""
    from fdverify.reports.html_page import html_page

    write_file(path, html_page(document))


def check_time_limit(seconds: float | None) -> None:
    if seconds is not None and not 0 < seconds < math.inf:
        raise UsageError(f"--time-limit must be a positive number of seconds, got {seconds:g}")


def number_or_symbolic(name: str, text: str) -> int | None:
    """The value of a parameter's option; ``None`` if it is arbitrary."""
    if text == SYMBOLIC:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--{name} must be a number or {SYMBOLIC}, got {text!r}") from None
