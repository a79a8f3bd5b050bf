"""The streams of a command: what cannot be written to stdout ends it, what cannot be told on stderr is lost."""

from __future__ import annotations

import io
import sys
from typing import Any

from fdverify.errors import UsageError


class ReaderGone(Exception):
    """Nobody reads stdout any more."""


def stdout_error(error: OSError) -> Exception:
    """What it means that stdout cannot be written."""
    return (
        ReaderGone() if isinstance(error, BrokenPipeError) else UsageError(f"cannot write to stdout: {error.strerror}")
    )


class _Stdout(io.FileIO):
    def write(self, text: Any) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise stdout_error(error) from error


class _Stderr(io.FileIO):
    def write(self, text: Any) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)


class _Text(io.TextIOWrapper):
    def close(self) -> None:
        """Stay open: a user's file does not decide whether an answer can be told."""
        self.flush()


def open_streams() -> None:
    """Have stdout and stderr fail as a command should."""
    sys.stdout = _text(_Stdout(1, "w", closefd=False), sys.stdout, "backslashreplace")
    sys.stderr = _text(_Stderr(2, "w", closefd=False), sys.stderr, "backslashreplace")


def _text(raw: io.FileIO, before: Any, errors: str) -> _Text:
    encoding = getattr(before, "encoding", None) or "utf-8"
    lines = raw.fileno() == 2 or raw.isatty()
    return _Text(io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=lines)
