"""The check of the source of an author's functions: its meaning must be the same on symbols and on values."""

from __future__ import annotations

from collections.abc import Iterable

from fdverify.author_code.author_functions import AuthorFunction
from fdverify.author_code.source.reader_base import SourceTooLong
from fdverify.author_code.source.source_reader import SourceReader, SummaryCache


def check_sources(functions: Iterable[AuthorFunction]) -> tuple[AuthorFunction, ...]:
    """Refuse source whose meaning may differ between symbols and values; return the functions that cannot be read."""
    findings = SummaryCache()
    return tuple(each for each in functions if not _read_function(each, findings))


def _read_function(function: AuthorFunction, findings: SummaryCache) -> bool:
    try:
        return SourceReader(function, findings).read()
    except (RecursionError, SourceTooLong):  # it is nested too deeply, or too long, to be read
        return False
