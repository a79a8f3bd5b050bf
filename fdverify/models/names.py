"""Names that tell things apart: two of one name are refused, with the places where both are written if known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import unwrap
from typing import Any

from fdverify.errors import UsageError, located


def check_unique(whose: str, kind: str, named: Iterable[tuple[str, object]]) -> None:
    """Refuse two of one name: reports, and whoever asks for one of them, could not tell which is meant.

    Each name comes with the function that it is given to, if there is one.
    """
    known: dict[str, object] = {}
    for name, function in named:
        if name in known:
            places = [place for place in map(place_of, (known[name], function)) if place is not None]
            where = f", at {places[0]} and at {places[1]}" if len(places) == 2 else ""
            raise UsageError(f"{whose} has two {kind} {name}{where}", "rename one")
        known[name] = function


def place_of(function: Callable[..., Any] | object) -> str | None:
    """Where a function is written, however it was wrapped here."""
    code = getattr(unwrap(function), "__code__", None) if callable(function) else None
    return None if code is None else located(code.co_filename, code.co_firstlineno)
