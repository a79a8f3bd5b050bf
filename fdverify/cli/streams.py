"""The streams of a command: a failed write to stdout ends the command, a failed write to stderr is ignored."""

from __future__ import annotations

import io
import sys
from typing import Any

from fdverify.errors import UsageError


class ReaderGone(Exception):
    """Nobody reads stdout any more."""


def classify_stdout_error(error: OSError) -> Exception:
    """Convert an error on stdout to the exception that ends the command."""
    return (
        ReaderGone() if isinstance(error, BrokenPipeError) else UsageError(f"cannot write to stdout: {error.strerror}")
    )


class _Stdout(io.FileIO):
    def write(self, text: Any) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise classify_stdout_error(error) from error


class _Stderr(io.FileIO):
    def write(self, text: Any) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)


class _TextStream(io.TextIOWrapper):
    def close(self) -> None:
        """Flush only: a user's file must not close the stream of the answer."""
        self.flush()


def open_streams() -> None:
    """Replace stdout and stderr by streams that handle failed writes."""
    sys.stdout = _open_text(_Stdout(1, "w", closefd=False), sys.stdout, "backslashreplace")
    sys.stderr = _open_text(_Stderr(2, "w", closefd=False), sys.stderr, "backslashreplace")


def _open_text(raw: io.FileIO, before: Any, errors: str) -> _TextStream:
    encoding = getattr(before, "encoding", None) or "utf-8"
    lines = raw.fileno() == 2 or raw.isatty()
    return _TextStream(io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=lines)
