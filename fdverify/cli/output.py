"""Output of commands: the answer on stdout, files, and progress on stderr; bad destinations are refused early."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from itertools import combinations
from pathlib import Path
from time import monotonic

from fdverify.cli.streams import classify_stdout_error, reserve_stdout
from fdverify.cli.supervisor_pipe import announce_answer
from fdverify.errors import UsageError
from fdverify.printable import make_printable
from fdverify.workers.atomic_files import is_same_file, is_writable, write_report

_EVERY_SECONDS = {True: 0.1, False: 5.0}


def print_answer(text: str) -> None:
    """Write to stdout; fail now, not at exit, if it cannot be written."""
    announce_answer()
    try:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # the answer is printed in any encoding
        with reserve_stdout(False):
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


class ProgressLine:
    """The progress of a command on stderr: on a terminal one line that is rewritten, else a new line now and then."""

    def __init__(self, command: str, silent: bool = False) -> None:
        self._command = command
        self._silent = silent
        self._start = self._shown = monotonic()
        self._renews = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._open = False

    def show(self, text: str) -> None:
        """Show a text, unless another was shown a moment ago."""
        now = monotonic()
        if self._silent or now - self._shown < _EVERY_SECONDS[self._renews]:
            return
        self._shown = now
        line = f"{make_printable(f'{self._command}: {text}')}, {now - self._start:.0f} s"
        sys.stderr.write(f"\r\x1b[K{line}" if self._renews else f"{line}\n")
        sys.stderr.flush()
        self._open = self._renews

    def close(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._open = False
