"""The streams of a command.

A failed write to stdout ends the command, a failed write to stderr is ignored.  Stdout is for the answer, which may be
a document for machines: what else is printed while a command computes goes to stderr.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    is_reserved = False

    def write(self, text: Any) -> int:
        if self.is_reserved:
            with suppress(OSError):
                return os.write(2, text)
            return len(text)
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


@contextmanager
def reserve_stdout(reserved: bool = True) -> Iterator[None]:
    """Send what is printed meanwhile to stderr; if not ``reserved``, to stdout, although a caller has reserved it.

    Libraries print, too: Z3 says on stdout that it cannot be loaded.
    """
    stream = sys.stdout
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    if not isinstance(raw, _Stdout):  # the caller is not a command
        yield
        return
    stream.flush()
    before, raw.is_reserved = raw.is_reserved, reserved
    try:
        yield
    finally:
        stream.flush()
        raw.is_reserved = before


def _open_text(raw: io.FileIO, before: Any, errors: str) -> _TextStream:
    encoding = getattr(before, "encoding", None) or "utf-8"
    lines = raw.fileno() == 2 or raw.isatty()
    return _TextStream(io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=lines)
