"""Clauses that make a proof out of what is not yet one.

A step breaks the proof: clauses that exclude the state it starts from are added, those that a round can break are
dropped again, and so on until no step is left.  A clause that was dropped may need others: then those that exclude the
states from which it was broken are added too, and so on, some rounds back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic

from fdverify.discovery.clauses.clause import Clause
from fdverify.discovery.suggest.exclusion import Exclusion
from fdverify.discovery.suggest.relative import Gap, Relative
from fdverify.models.system import State

_MOST_TURNS = 30
_MOST_AT_ONCE = 80
_MOST_DEEPER = 30
_ENOUGH, _ALL = 100, 10_000
"""With so many clauses against a state, longer ones are not looked for; unless the shorter ones do not help."""
_DEEPER = 8
"""How many clauses that were dropped are looked into at a time."""
_DEEPEST = 3
"""How often: first those against the failing state, then those against the states from which these were broken, …"""


class Strengthening:
    """The search for clauses, until so many seconds have passed."""

    def __init__(self, relative: Relative, exclusion: Exclusion, seconds: float) -> None:
        self._relative = relative
        self._exclusion = exclusion
        self._deadline = monotonic() + seconds
        self._kept: list[int] = []

    def proving(self, most: int) -> list[list[Clause]]:
        """Up to so many small sets of clauses, with each of which the proof is one; no clause is in two of them."""
        found: list[list[Clause]] = []
        try:
            kept = self._search()
            while kept is not None and len(found) < most:
                few = self._fewest(kept)
                found.append([self._relative.clauses[at] for at in few])
                kept, _ = self._relative.inductive((at for at in kept if at not in few), self._deadline)
                if self._relative.failing(kept) is not None:
                    break
        except Gap:
            pass  # what was found is as good as before
        return found

    def helping(self) -> list[Clause]:
        """Clauses that rounds preserve and that exclude a state from which the proof fails, the simplest first."""
        try:
            state = self._relative.failing([])
        except Gap:
            return []
        clauses = [self._relative.clauses[at] for at in self._kept]
        return sorted((each for each in clauses if state is not None and not each.holds(state)), key=_cost)

    def _search(self) -> list[int] | None:
        """All the clauses at hand with which the proof is one, or ``None`` if none are found."""
        relative = self._relative
        for _ in range(_MOST_TURNS):
            kept, broken = relative.inductive(range(len(relative.clauses)), self._deadline)
            self._kept = kept
            state = relative.failing(kept)
            if state is None:
                return kept
            tried = len(relative.clauses)
            self._exclude(state, _MOST_AT_ONCE)
            states = [state]
            for _ in range(_DEEPEST):
                states = self._before(states, broken, kept)
                for each in states:
                    # What was taken up against another state may do for this one.
                    if all(clause.holds(each) for clause in relative.clauses[tried:]):
                        self._exclude(each, _MOST_DEEPER)
            if len(relative.clauses) == tried:
                self._exclude(state, _MOST_AT_ONCE, _ALL)
            if len(relative.clauses) == tried or monotonic() > self._deadline:
                return None
        return None

    def _before(self, states: Sequence[State], broken: Iterable[int], kept: Sequence[int]) -> list[State]:
        """States from which clauses against these ones were broken, the simplest clauses first."""
        clauses = self._relative.clauses
        against = [at for at in broken if not all(clauses[at].holds(state) for state in states)]
        against.sort(key=lambda at: _cost(clauses[at]))
        found = (self._relative.breaking(at, kept) for at in against[:_DEEPER])
        return [state for state in found if state is not None]

    def _exclude(self, state: State, most: int, enough: int = _ENOUGH) -> None:
        """Take up clauses against a state that are new."""
        added = 0
        for clause in self._exclusion.clauses(state, enough):
            if added >= most:
                break
            added += self._relative.add(clause)

    def _fewest(self, kept: Sequence[int]) -> list[int]:
        """A small part of the clauses with which the proof is still one."""
        found = self._relative.needed(kept)
        for at in sorted(found, key=lambda at: -len(self._relative.clauses[at].source())):
            fewer = [other for other in found if other != at]
            if self._relative.closed(fewer):
                found = fewer
        return found


def _cost(clause: Clause) -> tuple[int, int]:
    return len(clause.premises), len(clause.source())
