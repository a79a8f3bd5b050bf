"""The Houdini algorithm: the largest inductive subset of the candidates, and a small part of it that implies a goal.

Candidates that a round can break are dropped until no such candidate is left.  All queries are about summarised rounds,
so they are in linear arithmetic; the result is proved again on the model itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from fdverify.invariant_search.clause import Clause
from fdverify.invariant_search.summarised_round import SummarisedRound
from fdverify.models.system import Property
from fdverify.symbolic.values import lift_truth


class Houdini:
    """Queries about one round, in which each candidate may be assumed to hold before the round."""

    def __init__(self, step: SummarisedRound, candidates: Sequence[Clause], seed: int = 0) -> None:
        self.candidates = candidates
        self._step = step
        self._solver = z3.SimpleSolver()
        # Z3's older arithmetic solver is faster on many small queries about the same sums.
        self._solver.set("arith.solver", 2)
        self._solver.set("random_seed", seed)
        ranges = [lift_truth(claim.holds(step.before)) for claim in step.system.list_ranges()]
        self._solver.add(*step.parameter_facts, *step.list_buffer_constraints(step.before), *ranges)
        self._assumed = [z3.Bool(f"assumed{index}") for index in range(len(candidates))]
        for assumed, candidate in zip(self._assumed, candidates, strict=True):
            self._solver.add(z3.Implies(assumed, lift_truth(candidate.holds(step.before))))
        self._moves = z3.Bool("moves")
        self._solver.add(z3.Implies(self._moves, z3.And(*step.allowed)))
        self._after = [lift_truth(candidate.holds(step.after)) for candidate in candidates]

    def find_inductive(self) -> list[int]:
        """Return the indices of the largest subset of candidates that is inductive; none if the solver gives up."""
        solver = z3.SimpleSolver()
        solver.add(*self._step.parameter_facts)
        initially = [lift_truth(candidate.holds(self._step.initial)) for candidate in self.candidates]
        kept = [index for index, holds in enumerate(initially) if solver.check(z3.Not(holds)) == z3.unsat]
        while kept:
            self._solver.push()
            self._solver.add(z3.Or(*(z3.Not(self._after[index]) for index in kept)))
            status = self._solver.check(self._moves, *self._list_assumptions(kept))
            model = self._solver.model() if status == z3.sat else None
            self._solver.pop()
            if model is None:
                return kept if status == z3.unsat else []
            kept = [index for index in kept if z3.is_true(model.eval(self._after[index], model_completion=True))]
        return kept

    def find_sufficient(self, inductive: Sequence[int], goal: Property) -> list[Clause] | None:
        """Find a small inductive part of the candidates that implies the goal; ``None`` if not even all of them do."""
        kept = sorted(inductive, key=self._compute_cost)
        wanted = self._find_needed(kept, lift_truth(goal.holds(self._step.before)), [])
        if wanted is None:
            return None
        chosen: set[int] = set()
        while wanted:
            index = wanted.pop()
            if index in chosen:
                continue
            chosen.add(index)
            # Candidates that are chosen already cost nothing more.
            kept.sort(key=lambda other: (other not in chosen, self._compute_cost(other)))
            needed = self._find_needed(kept, self._after[index], [self._moves])
            if needed is None:
                return None
            wanted += needed
        return [self.candidates[index] for index in self._drop_redundant(sorted(chosen), goal)]

    def _drop_redundant(self, chosen: list[int], goal: Property) -> list[int]:
        """Drop redundant candidates, the longest first, as long as the rest is inductive and implies the goal."""
        for index in sorted(chosen, key=self._compute_cost, reverse=True):
            rest = [other for other in chosen if other != index]
            implies_goal = self._is_implied(rest, lift_truth(goal.holds(self._step.before)), [])
            if implies_goal and all(self._is_implied(rest, self._after[other], [self._moves]) for other in rest):
                chosen = rest
        return chosen

    def _find_needed(self, kept: Sequence[int], claim: Any, moving: list[Any]) -> list[int] | None:
        """Find candidates that imply a claim, preferring the first ones; ``None`` if all of them do not imply it."""
        if not self._is_implied(kept, claim, moving):
            return None
        needed: list[int] = []
        # Binary search for the shortest sufficient prefix: its last element is needed.  Repeat with that one assumed.
        while not self._is_implied(needed, claim, moving):
            low, high = 0, len(kept)
            while low + 1 < high:
                middle = (low + high) // 2
                if self._is_implied([*needed, *kept[:middle]], claim, moving):
                    high = middle
                else:
                    low = middle
            needed.append(kept[high - 1])
            kept = kept[: high - 1]
        return needed

    def _is_implied(self, kept: Iterable[int], claim: Any, moving: list[Any]) -> bool:
        self._solver.push()
        self._solver.add(z3.Not(claim))
        status = self._solver.check(*moving, *self._list_assumptions(kept))
        self._solver.pop()
        return bool(status == z3.unsat)

    def _list_assumptions(self, kept: Iterable[int]) -> list[Any]:
        return [self._assumed[index] for index in kept]

    def _compute_cost(self, index: int) -> tuple[int, int]:
        return len(self.candidates[index].premises), len(self.candidates[index].to_source())
