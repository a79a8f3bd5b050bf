"""Strengthening of an invariant that is not inductive, by clauses.

From a counterexample to induction, clauses that exclude its first state are added; those that a round can break are
dropped again; and so on until there is no counterexample.  A dropped clause may need others to be inductive, so clauses
that exclude the states from which it was broken are added too, some rounds back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic

from fdverify.invariant_search.clause import Clause
from fdverify.invariant_search.relative_induction import RelativeInduction, SolverGaveUp
from fdverify.invariant_search.state_exclusion import StateExclusion
from fdverify.models.system import State

_MOST_TURNS = 30
_MOST_AT_ONCE = 80
_MOST_DEEPER = 30
_ENOUGH, _ALL = 100, 10_000
"""How many clauses against a state are enough, so that longer ones are not tried; all, if the shorter do not help."""
_DEEPER = 8
"""How many dropped clauses are followed back at a time."""
_DEEPEST = 3
"""How many rounds back: first clauses against the failing state, then against the states that break them, …"""


class Strengthening:
    """The search for strengthening clauses, with a time limit in seconds."""

    def __init__(self, relative: RelativeInduction, exclusion: StateExclusion, seconds: float) -> None:
        self._relative = relative
        self._exclusion = exclusion
        self._deadline = monotonic() + seconds
        self._kept: list[int] = []

    def find_proving_sets(self, most: int) -> list[list[Clause]]:
        """Find at most ``most`` small, disjoint sets of clauses, each of which completes the proof."""
        sets: list[list[Clause]] = []
        try:
            kept = self._search_clauses()
            while kept is not None and len(sets) < most:
                few = self._reduce_clauses(kept)
                sets.append([self._relative.clauses[index] for index in few])
                kept, _ = self._relative.find_inductive((index for index in kept if index not in few), self._deadline)
                if self._relative.find_failing_state(kept) is not None:
                    break
        except SolverGaveUp:
            pass  # the sets found so far are still good
        return sets

    def list_helping_clauses(self) -> list[Clause]:
        """List inductive clauses that exclude a state from which the proof fails, the simplest first."""
        try:
            state = self._relative.find_failing_state([])
        except SolverGaveUp:
            return []
        clauses = [self._relative.clauses[index] for index in self._kept]
        return sorted(
            (clause for clause in clauses if state is not None and not clause.holds(state)), key=_compute_cost
        )

    def _search_clauses(self) -> list[int] | None:
        """Search for clauses with which the proof succeeds; ``None`` if they are not found."""
        relative = self._relative
        for _ in range(_MOST_TURNS):
            kept, broken = relative.find_inductive(range(len(relative.clauses)), self._deadline)
            self._kept = kept
            state = relative.find_failing_state(kept)
            if state is None:
                return kept
            tried = len(relative.clauses)
            self._exclude_state(state, _MOST_AT_ONCE)
            states = [state]
            for _ in range(_DEEPEST):
                states = self._find_breaking_states(states, broken, kept)
                for earlier in states:
                    # A clause that was added against another state may exclude this one too.
                    if all(clause.holds(earlier) for clause in relative.clauses[tried:]):
                        self._exclude_state(earlier, _MOST_DEEPER)
            if len(relative.clauses) == tried:
                self._exclude_state(state, _MOST_AT_ONCE, _ALL)
            if len(relative.clauses) == tried or monotonic() > self._deadline:
                return None
        return None

    def _find_breaking_states(self, states: Sequence[State], broken: Iterable[int], kept: Sequence[int]) -> list[State]:
        """Find the states from which clauses against these states were broken, the simplest clauses first."""
        clauses = self._relative.clauses
        against = [index for index in broken if not all(clauses[index].holds(state) for state in states)]
        against.sort(key=lambda index: _compute_cost(clauses[index]))
        breaking = (self._relative.find_breaking_state(index, kept) for index in against[:_DEEPER])
        return [state for state in breaking if state is not None]

    def _exclude_state(self, state: State, most: int, enough: int = _ENOUGH) -> None:
        """Add at most ``most`` new clauses that exclude a state."""
        added = 0
        for clause in self._exclusion.find_clauses(state, enough):
            if added >= most:
                break
            added += self._relative.add_clause(clause)

    def _reduce_clauses(self, kept: Sequence[int]) -> list[int]:
        """Reduce the clauses to a small part with which the proof still succeeds."""
        needed = self._relative.find_needed(kept)
        for index in sorted(needed, key=lambda index: -len(self._relative.clauses[index].to_source())):
            fewer = [other for other in needed if other != index]
            if self._relative.is_sufficient(fewer):
                needed = fewer
        return needed


def _compute_cost(clause: Clause) -> tuple[int, int]:
    return len(clause.premises), len(clause.to_source())
