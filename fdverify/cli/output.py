"""Output of commands: writing to stdout and to files, and refusing bad destinations before the work."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from itertools import combinations
from pathlib import Path

from fdverify.cli.streams import classify_stdout_error
from fdverify.cli.supervisor_pipe import announce_answer
from fdverify.errors import UsageError
from fdverify.workers.atomic_files import is_same_file, is_writable, write_report


def print_answer(text: str) -> None:
    """Write to stdout; fail now, not at exit, if it cannot be written."""
    announce_answer()
    try:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # the answer is printed in any encoding
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # The interpreter must not try to write the rest of Python's buffer when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise classify_stdout_error(error) from error
    except ValueError as error:  # a user's file has closed stdout
        raise UsageError(f"cannot write to stdout: {error}") from error


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before the work is done."""
    try:
        path.lstat()
    except FileNotFoundError:
        pass  # it will be created
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {path}: {getattr(error, 'strerror', error)}") from error
    if not is_writable(path):
        raise UsageError(f"cannot write {path}")


def check_report(path: Path, *about: Path) -> None:
    """Refuse to overwrite a source file with a report: the user may have left out the name of the report."""
    check_writable(path)
    if ".py" in (path.suffix, Path(os.path.realpath(path)).suffix) or any(is_same_file(path, file) for file in about):
        raise UsageError(f"a report is not written to {path}", "was the name of the report left out?")


def check_reports(reports: Mapping[str, Path | None], *about: Path) -> None:
    """Check the files that these options name; no two options may name the same file."""
    named = {flag: path for flag, path in reports.items() if path is not None}
    for path in named.values():
        check_report(path, *about)
    for (flag, path), (other, another) in combinations(named.items(), 2):
        if is_same_file(path, another):
            raise UsageError(f"{flag} and {other} cannot both be {path}", "give each a file of its own")


def write_file(path: Path, text: str) -> None:
    try:
        write_report(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def check_time_limit(seconds: float | None) -> None:
    if seconds is not None and not 0 < seconds < math.inf:
        raise UsageError(f"--time-limit must be a positive number of seconds, got {seconds:g}")
