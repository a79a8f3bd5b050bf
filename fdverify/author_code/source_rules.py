"""What the source of an author's function may say."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from fdverify.author_code.functions import AuthorFunction


def check_sources(functions: Iterable[AuthorFunction]) -> tuple[AuthorFunction, ...]:
    """Refuse what means something else to one of the engines; the functions that have no source to read."""
    return tuple(each for each in functions if not _is_readable(each))


def _is_readable(function: AuthorFunction) -> bool:
    try:
        return bool(inspect.getsource(function.function))
    except (OSError, TypeError):
        return False
