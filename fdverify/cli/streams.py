"""The streams of a command: what cannot be written to stdout ends it, what cannot be told on stderr is lost."""

from __future__ import annotations

import io
import sys
from typing import Any

from fdverify.errors import UsageError


class ReaderGone(Exception):
    """Nobody reads stdout any more."""


def classify_stdout_error(error: OSError) -> Exception:
    """What it means that stdout cannot be written."""
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
        """Stay open: a user's file does not decide whether an answer can be told."""
        self.flush()


def open_streams() -> None:
    """Have stdout and stderr fail as a command should."""
    sys.stdout = _open_text(_Stdout(1, "w", closefd=False), sys.stdout, "backslashreplace")
    sys.stderr = _open_text(_Stderr(2, "w", closefd=False), sys.stderr, "backslashreplace")


def _open_text(raw: io.FileIO, before: Any, errors: str) -> _TextStream:
    encoding = getattr(before, "encoding", None) or "utf-8"
    lines = raw.fileno() == 2 or raw.isatty()
    return _TextStream(io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=lines)
