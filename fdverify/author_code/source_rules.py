"""The check of the source of an author's functions: its meaning must be the same on symbols and on values."""

from __future__ import annotations

from collections.abc import Iterable

from fdverify.author_code.functions import AuthorFunction
from fdverify.author_code.source.core import TooLong
from fdverify.author_code.source.reader import Findings, Reader


def check_sources(functions: Iterable[AuthorFunction]) -> tuple[AuthorFunction, ...]:
    """Refuse source whose meaning may differ between symbols and values; return the functions that cannot be read."""
    findings = Findings()
    return tuple(each for each in functions if not _read(each, findings))


def _read(function: AuthorFunction, findings: Findings) -> bool:
    try:
        return Reader(function, findings).read()
    except (RecursionError, TooLong):  # it is nested too deeply, or too long, to be read
        return False
