"""Reading the source of rounds of one's own: an index is a number in a small system, and a symbol in a lemma."""

from __future__ import annotations

from types import FunctionType, MethodType

from fdverify.author_code.functions import AuthorFunction
from fdverify.author_code.source_rules import check_sources
from fdverify.cutoff.rounds import Rounds

_ASKED = ("begin", "schedule", "send", "receive", "compute", "enabled", "moved")
"""The methods that are called from outside."""


def check_round_sources(rounds: Rounds) -> tuple[str, ...]:
    """Refuse rounds that look at more than the values of indexes; return the methods that could not be read."""
    methods = [(name, getattr(rounds, name)) for name in _ASKED]
    own = [(name, method) for name, method in methods if not _is_of_the_class(name, method)]
    unread = check_sources(AuthorFunction("round", f"{type(rounds).__name__}.{name}", method) for name, method in own)
    return tuple(each.name for each in unread)


def _is_of_the_class(name: str, method: object) -> bool:
    function = method.__func__ if isinstance(method, MethodType) else None
    return isinstance(function, FunctionType) and function is getattr(Rounds, name)
