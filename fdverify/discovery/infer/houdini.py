"""The Houdini algorithm: the largest inductive subset of the candidates, and a small part of it that implies a goal.

Candidates that a round can break are dropped until no such candidate is left.  All queries are about summarised rounds,
so they are in linear arithmetic; the result is proved again on the model itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from fdverify.discovery.clauses.clause import Clause
from fdverify.discovery.clauses.round import SummarisedRound
from fdverify.models.system import Property
from fdverify.symbolic.values import truth


class Houdini:
    """Queries about one round, in which each candidate may be assumed to hold before the round."""

    def __init__(self, step: SummarisedRound, candidates: Sequence[Clause], seed: int = 0) -> None:
        self.candidates = candidates
        self._step = step
        self._solver = z3.SimpleSolver()
        # Z3's older arithmetic solver is faster on many small queries about the same sums.
        self._solver.set("arith.solver", 2)
        self._solver.set("random_seed", seed)
        ranges = [truth(claim.holds(step.before)) for claim in step.system.ranges()]
        self._solver.add(*step.given, *step.in_range(step.before), *ranges)
        self._assumed = [z3.Bool(f"assumed{index}") for index in range(len(candidates))]
        for assumed, candidate in zip(self._assumed, candidates, strict=True):
            self._solver.add(z3.Implies(assumed, truth(candidate.holds(step.before))))
        self._moves = z3.Bool("moves")
        self._solver.add(z3.Implies(self._moves, z3.And(*step.allowed)))
        self._after = [truth(candidate.holds(step.after)) for candidate in candidates]

    def inductive(self) -> list[int]:
        """Return the indices of the largest subset of candidates that is inductive; none if the solver gives up."""
        solver = z3.SimpleSolver()
        solver.add(*self._step.given)
        initially = [truth(candidate.holds(self._step.initial)) for candidate in self.candidates]
        kept = [index for index, holds in enumerate(initially) if solver.check(z3.Not(holds)) == z3.unsat]
        while kept:
            self._solver.push()
            self._solver.add(z3.Or(*(z3.Not(self._after[index]) for index in kept)))
            status = self._solver.check(self._moves, *self._assuming(kept))
            model = self._solver.model() if status == z3.sat else None
            self._solver.pop()
            if model is None:
                return kept if status == z3.unsat else []
            kept = [index for index in kept if z3.is_true(model.eval(self._after[index], model_completion=True))]
        return kept

    def enough(self, inductive: Sequence[int], goal: Property) -> list[Clause] | None:
        """Find a small inductive part of the candidates that implies the goal; ``None`` if not even all of them do."""
        kept = sorted(inductive, key=self._cost)
        wanted = self._needed(kept, truth(goal.holds(self._step.before)), [])
        if wanted is None:
            return None
        chosen: set[int] = set()
        while wanted:
            index = wanted.pop()
            if index in chosen:
                continue
            chosen.add(index)
            # Candidates that are chosen already cost nothing more.
            kept.sort(key=lambda other: (other not in chosen, self._cost(other)))
            needed = self._needed(kept, self._after[index], [self._moves])
            if needed is None:
                return None
            wanted += needed
        return [self.candidates[index] for index in self._without_spare(sorted(chosen), goal)]

    def _without_spare(self, chosen: list[int], goal: Property) -> list[int]:
        """Drop redundant candidates, the longest first, as long as the rest is inductive and implies the goal."""
        for index in sorted(chosen, key=self._cost, reverse=True):
            rest = [other for other in chosen if other != index]
            implies_goal = self._follows(rest, truth(goal.holds(self._step.before)), [])
            if implies_goal and all(self._follows(rest, self._after[other], [self._moves]) for other in rest):
                chosen = rest
        return chosen

    def _needed(self, kept: Sequence[int], claim: Any, moving: list[Any]) -> list[int] | None:
        """Find candidates that imply a claim, preferring the first ones; ``None`` if all of them do not imply it."""
        if not self._follows(kept, claim, moving):
            return None
        needed: list[int] = []
        # Binary search for the shortest sufficient prefix: its last element is needed.  Repeat with that one assumed.
        while not self._follows(needed, claim, moving):
            low, high = 0, len(kept)
            while low + 1 < high:
                middle = (low + high) // 2
                if self._follows([*needed, *kept[:middle]], claim, moving):
                    high = middle
                else:
                    low = middle
            needed.append(kept[high - 1])
            kept = kept[: high - 1]
        return needed

    def _follows(self, kept: Iterable[int], claim: Any, moving: list[Any]) -> bool:
        self._solver.push()
        self._solver.add(z3.Not(claim))
        status = self._solver.check(*moving, *self._assuming(kept))
        self._solver.pop()
        return bool(status == z3.unsat)

    def _assuming(self, kept: Iterable[int]) -> list[Any]:
        return [self._assumed[index] for index in kept]

    def _cost(self, index: int) -> tuple[int, int]:
        return len(self.candidates[index].premises), len(self.candidates[index].source())
