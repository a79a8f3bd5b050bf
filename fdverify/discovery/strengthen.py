"""Clauses that make a proof out of what is not yet one.

A step breaks the proof: clauses that exclude the state it starts from are added, those that a round can break are
dropped again, and so on until no step is left.  A clause that was dropped may need others: then those that exclude the
states from which it was broken are added too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fdverify.discovery.clauses import Clause
from fdverify.discovery.exclusion import Exclusion
from fdverify.discovery.relative import Gap, Relative
from fdverify.models.system import State

_MOST_TURNS = 30
_MOST_AT_ONCE = 150
_DEEPER = 4


class Strengthening:
    def __init__(self, relative: Relative, exclusion: Exclusion) -> None:
        self._relative = relative
        self._exclusion = exclusion

    def search(self, first: State | None = None) -> list[int] | None:
        """All the clauses at hand with which the proof is one, or ``None`` if none are found."""
        relative = self._relative
        if first is not None:
            self._exclude(first)
        for _ in range(_MOST_TURNS):
            kept, broken = relative.inductive(range(len(relative.clauses)))
            state = relative.failing(kept)
            if state is None:
                return kept
            added = self._exclude(state)
            helpful = [at for at in broken if not relative.clauses[at].holds(state)]
            helpful.sort(key=lambda at: (len(relative.clauses[at].premises), len(relative.clauses[at].source())))
            for at in helpful[:_DEEPER]:
                added += self._exclude(broken[at])
            if not added:
                return None
        return None

    def _exclude(self, state: State) -> int:
        """Take up clauses against a state; how many were new."""
        clauses = self._exclusion.clauses(state)
        added = 0
        for clause in clauses:
            if added >= _MOST_AT_ONCE:
                break
            added += self._relative.add(clause)
        return added

    def fewest(self, kept: Sequence[int]) -> list[int]:
        """A small part of the clauses with which the proof is still one."""
        found = self._relative.needed(kept)
        for at in sorted(found, key=lambda at: -len(self._relative.clauses[at].source())):
            fewer = [other for other in found if other != at]
            if self._relative.closed(fewer):
                found = fewer
        return found
