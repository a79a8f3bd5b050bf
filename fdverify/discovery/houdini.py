"""The largest inductive part of a set of candidates, and the smallest part of that which is enough for a goal.

Candidates that a round can break are dropped until none is left that can be (Houdini).  Both work on summarised rounds,
so every question is one of linear arithmetic; what comes of it is proved anew on the model itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from fdverify.discovery.clauses import Clause
from fdverify.discovery.round import SummarisedRound
from fdverify.logic import Not
from fdverify.models.system import Property
from fdverify.symbolic.values import truth


class Consecution:
    """Questions about one round, in which each candidate can be assumed before it or not."""

    def __init__(self, step: SummarisedRound, clauses: Sequence[Clause], seed: int = 0) -> None:
        self.clauses = clauses
        self._step = step
        self._solver = z3.SimpleSolver()
        self._solver.set("arith.solver", 2)
        self._solver.set("random_seed", seed)
        ranges = [truth(claim.holds(step.before)) for claim in step.system.ranges()]
        self._solver.add(*step.given, *step.in_range(step.before), *ranges)
        self._assumed = [z3.Bool(f"assume{at}") for at in range(len(clauses))]
        self._solver.add(
            *(z3.Implies(a, truth(c.holds(step.before))) for a, c in zip(self._assumed, clauses, strict=True))
        )
        self._moves = z3.Bool("moves")
        self._solver.add(z3.Implies(self._moves, z3.And(*step.allowed)))
        self._after = [truth(clause.holds(step.after)) for clause in clauses]

    def holding_initially(self) -> list[int]:
        solver = z3.Solver()
        solver.add(*self._step.given)
        return [
            at
            for at, clause in enumerate(self.clauses)
            if solver.check(truth(Not(clause.holds(self._step.initial)))) == z3.unsat
        ]

    def inductive(self, kept: Sequence[int]) -> list[int]:
        """Those that hold after every round from a state in which all of them hold."""
        kept = list(kept)
        while kept:
            broken = z3.Or(*(z3.Not(self._after[at]) for at in kept))
            self._solver.push()
            self._solver.add(broken)
            status = self._solver.check(self._moves, *(self._assumed[at] for at in kept))
            if status != z3.sat:
                self._solver.pop()
                if status == z3.unknown:
                    return []
                return kept
            model = self._solver.model()
            kept = [at for at in kept if z3.is_true(model.eval(self._after[at], model_completion=True))]
            self._solver.pop()
        return kept

    def needed(self, kept: Sequence[int], claim: Any, moves: bool) -> list[int] | None:
        """Some of the candidates from which a claim follows, few; ``None`` if it does not follow from all of them."""
        kept = list(kept)
        self._solver.push()
        self._solver.add(z3.Not(claim))
        extra = [self._moves] if moves else []
        try:
            if self._solver.check(*extra, *(self._assumed[at] for at in kept)) != z3.unsat:
                return None
            core = {str(literal) for literal in self._solver.unsat_core()}
            kept = [at for at in kept if str(self._assumed[at]) in core]
            for at in sorted(kept, key=lambda at: -self._cost(at)):
                fewer = [other for other in kept if other != at]
                if self._solver.check(*extra, *(self._assumed[other] for other in fewer)) == z3.unsat:
                    core = {str(literal) for literal in self._solver.unsat_core()}
                    kept = [other for other in fewer if str(self._assumed[other]) in core]
            return kept
        finally:
            self._solver.pop()

    def _cost(self, at: int) -> int:
        return len(self.clauses[at].source())

    def enough(self, kept: Sequence[int], goal: Property) -> list[int] | None:
        """A part that is inductive by itself and implies the goal."""
        wanted = self.needed(kept, truth(goal.holds(self._step.before)), moves=False)
        if wanted is None:
            return None
        closed: dict[int, list[int]] = {}
        waiting = list(wanted)
        while waiting:
            at = waiting.pop(0)
            if at in closed:
                continue
            found = self.needed(
                sorted(kept, key=lambda other: (other not in closed, other)), self._after[at], moves=True
            )
            assert found is not None, "what is inductive is preserved by itself"
            closed[at] = found
            waiting += found
        return sorted(closed)
