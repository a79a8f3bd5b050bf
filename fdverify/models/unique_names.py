"""Uniqueness of names: a duplicate is refused, with the places of both definitions if they are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import unwrap
from typing import Any

from fdverify.errors import NameClash, SourceLocation, UsageError


def check_unique(owner: str, kind: str, names: Iterable[tuple[str, object]]) -> None:
    """Refuse a duplicate name, since neither reports nor references could tell which one is meant.

    Each name comes with the function it was given to, or with ``None``.
    """
    known: dict[str, object] = {}
    for name, function in names:
        if name in known:
            places = [place for place in map(locate_function, (known[name], function)) if place is not None]
            message, hint = f"{owner} has two {kind} {name}", "rename one"
            if len(places) < 2:
                raise UsageError(message, hint)
            raise NameClash(f"{message}, at {places[0]} and at {places[1]}", hint, places[1])
        known[name] = function


def locate_function(function: Callable[..., Any] | object) -> SourceLocation | None:
    """Return where a function is defined, below any wrappers."""
    code = getattr(unwrap(function), "__code__", None) if callable(function) else None
    return None if code is None else SourceLocation.from_code(code)
