"""The largest inductive part of a set of candidates, and a small part of that which is enough for a goal.

Candidates that a round can break are dropped until none is left that can be (Houdini).  All is asked about summarised
rounds, so every question is one of linear arithmetic; what comes of it is proved anew on the model itself.
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
    """Questions about one round, in which each candidate can be assumed to hold before it or not."""

    def __init__(self, step: SummarisedRound, candidates: Sequence[Clause], seed: int = 0) -> None:
        self.candidates = candidates
        self._step = step
        self._solver = z3.SimpleSolver()
        # Z3's older arithmetic is the faster one on many small questions about the same sums.
        self._solver.set("arith.solver", 2)
        self._solver.set("random_seed", seed)
        ranges = [truth(claim.holds(step.before)) for claim in step.system.ranges()]
        self._solver.add(*step.given, *step.in_range(step.before), *ranges)
        self._assumed = [z3.Bool(f"assumed{at}") for at in range(len(candidates))]
        for assumed, candidate in zip(self._assumed, candidates, strict=True):
            self._solver.add(z3.Implies(assumed, truth(candidate.holds(step.before))))
        self._moves = z3.Bool("moves")
        self._solver.add(z3.Implies(self._moves, z3.And(*step.allowed)))
        self._after = [truth(candidate.holds(step.after)) for candidate in candidates]

    def inductive(self) -> list[int]:
        """The places of those that hold initially and after every round from a state in which all of them hold."""
        solver = z3.SimpleSolver()
        solver.add(*self._step.given)
        initially = [truth(candidate.holds(self._step.initial)) for candidate in self.candidates]
        kept = [at for at, holds in enumerate(initially) if solver.check(z3.Not(holds)) == z3.unsat]
        while kept:
            self._solver.push()
            self._solver.add(z3.Or(*(z3.Not(self._after[at]) for at in kept)))
            status = self._solver.check(self._moves, *self._assuming(kept))
            model = self._solver.model() if status == z3.sat else None
            self._solver.pop()
            if model is None:
                return kept if status == z3.unsat else []
            kept = [at for at in kept if z3.is_true(model.eval(self._after[at], model_completion=True))]
        return kept

    def enough(self, inductive: Sequence[int], goal: Property) -> list[Clause] | None:
        """A few of the inductive ones that are inductive by themselves and imply the goal, if all together do."""
        kept = sorted(inductive, key=self._cost)
        wanted = self._needed(kept, truth(goal.holds(self._step.before)), [])
        if wanted is None:
            return None
        found: set[int] = set()
        while wanted:
            at = wanted.pop()
            if at in found:
                continue
            found.add(at)
            # What is needed anyway costs nothing more.
            kept.sort(key=lambda other: (other not in found, self._cost(other)))
            needed = self._needed(kept, self._after[at], [self._moves])
            if needed is None:
                return None
            wanted += needed
        return [self.candidates[at] for at in self._without_spare(sorted(found), goal)]

    def _without_spare(self, found: list[int], goal: Property) -> list[int]:
        """Leave out one after the other, the longest first, as long as the rest is enough."""
        for at in sorted(found, key=self._cost, reverse=True):
            rest = [other for other in found if other != at]
            implies_goal = self._follows(rest, truth(goal.holds(self._step.before)), [])
            if implies_goal and all(self._follows(rest, self._after[other], [self._moves]) for other in rest):
                found = rest
        return found

    def _needed(self, kept: Sequence[int], claim: Any, moving: list[Any]) -> list[int] | None:
        """Some from which a claim follows, those that come first preferred; ``None`` if it does not follow from all."""
        if not self._follows(kept, claim, moving):
            return None
        needed: list[int] = []
        # As many as suffice from the front; of those, the last one is needed.  Then again with it assumed.
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
        return [self._assumed[at] for at in kept]

    def _cost(self, at: int) -> tuple[int, int]:
        return len(self.candidates[at].premises), len(self.candidates[at].source())
