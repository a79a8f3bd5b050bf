"""Check of the source of an author's own rounds.

An index is a number in a small system and a symbol in a lemma, so rounds may only compare indexes.
"""

from __future__ import annotations

from types import FunctionType, MethodType

from fdverify.author_code.author_functions import AuthorFunction
from fdverify.author_code.source.reader_base import ROUND
from fdverify.author_code.source_check import check_sources
from fdverify.cutoff.rounds import Rounds
from fdverify.errors import UsageError

_ASKED = ("begin", "schedule", "send", "receive", "compute", "enabled", "moved")
"""The methods of `Rounds` that are called from outside."""


def check_round_sources(rounds: Rounds) -> None:
    """Refuse rounds that use more than the values of indexes, or whose source cannot be read."""
    methods = [(name, getattr(rounds, name)) for name in _ASKED]
    own = [(name, method) for name, method in methods if not _is_inherited(name, method)]
    for unread in check_sources(
        AuthorFunction(ROUND, f"{type(rounds).__name__}.{name}", method) for name, method in own
    ):
        # No other check would notice a use of an index that is not allowed.
        raise UsageError(
            f"{unread.name}: not all of its source can be read", "write it in a file, and call functions by their names"
        )


def _is_inherited(name: str, method: object) -> bool:
    function = method.__func__ if isinstance(method, MethodType) else None
    return isinstance(function, FunctionType) and function is getattr(Rounds, name)
