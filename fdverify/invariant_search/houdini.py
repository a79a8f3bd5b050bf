"""The Houdini algorithm: the largest inductive subset of the candidates, and a small part of it that implies a goal.

Candidates that a round can break are dropped until no such candidate is left.  All queries are about summarised rounds,
so they are in linear arithmetic; the result is proved again on the model itself.

Most queries ask whether some candidates imply another one after a round, and most answers are a round that breaks it.
Such a round is kept, since it answers many later queries without the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import z3
from numpy.typing import NDArray

from fdverify.invariant_search.clause import Clause
from fdverify.invariant_search.summarised_round import SummarisedRound
from fdverify.models.system import Property
from fdverify.symbolic.values import lift_truth


class _KnownRounds:
    """Rounds that the solver has found: which candidates hold before each of them, and which after it."""

    def __init__(self, before: Sequence[Any], after: Sequence[Any]) -> None:
        self._formulas = [*before, *after]
        self._candidates = len(before)
        self._rows: NDArray[np.bool_] = np.zeros((0, len(self._formulas)), dtype=bool)

    def add_model(self, model: Any) -> None:
        """Add the round of a model, in which the round is allowed."""
        row = [z3.is_true(model.eval(formula, model_completion=True)) for formula in self._formulas]
        self._rows = np.vstack([self._rows, np.array(row, dtype=bool)])

    def list_broken(self) -> NDArray[np.bool_]:
        """Return, for each candidate, whether the round that was added last breaks it."""
        return ~self._rows[-1, self._candidates :]

    def can_break(self, index: int, kept: Sequence[int]) -> bool:
        """Return whether one of the rounds breaks a candidate although the kept ones hold before it."""
        broken = ~self._rows[:, self._candidates + index]
        return bool((broken & self._rows[:, list(kept)].all(axis=1)).any())


class _RoundSolver:
    """A solver about one round, in which each candidate may be assumed to hold before it, or to be broken by it.

    Every question is a choice of assumptions, so nothing is taken back and what the solver has learned stays true.
    The round itself is asserted, not assumed: the solver then simplifies everything by it once, not in each question.
    """

    def __init__(
        self, step: SummarisedRound, before: Sequence[Any], after: Sequence[Any], about: Iterable[int], seed: int
    ) -> None:
        self._solver = _build_state_solver(step, seed)
        self._solver.add(*step.allowed)
        about = list(about)
        self._assumed = {index: z3.Bool(f"assumed{index}") for index in about}
        self._broken = {index: z3.Bool(f"broken{index}") for index in about}
        self._solver.add(*(z3.Implies(assumed, before[index]) for index, assumed in self._assumed.items()))
        self._solver.add(*(z3.Implies(broken, z3.Not(after[index])) for index, broken in self._broken.items()))

    def require_break(self) -> None:
        """Ask from now on only for rounds that break a candidate."""
        self._solver.add(z3.Or(*self._broken.values()))

    def drop_candidates(self, dropped: Iterable[int]) -> None:
        """Ask from now on only for rounds that break another candidate than these."""
        self._solver.add(*(z3.Not(self._broken[index]) for index in dropped))

    def check_round(self, kept: Iterable[int], broken: Iterable[int] = ()) -> tuple[Any, Any]:
        """Look for a round that breaks these candidates although the kept ones hold before it.

        Return the solver's answer, and a model of such a round if there is one.
        """
        assumptions = [*(self._broken[index] for index in broken), *(self._assumed[index] for index in kept)]
        status = self._solver.check(*assumptions)
        return status, self._solver.model() if status == z3.sat else None


def _build_state_solver(step: SummarisedRound, seed: int) -> Any:
    """Build a solver about an arbitrary state that is well-formed."""
    solver = z3.SimpleSolver()
    # Z3's older arithmetic solver is faster on many small queries about the same sums.
    solver.set("arith.solver", 2)
    solver.set("random_seed", seed)
    ranges = [lift_truth(claim.holds(step.before)) for claim in step.system.list_ranges()]
    solver.add(*step.parameter_facts, *step.list_buffer_constraints(step.before), *ranges)
    return solver


class Houdini:
    """Queries about one round, in which each candidate may be assumed to hold before the round."""

    def __init__(self, step: SummarisedRound, candidates: Sequence[Clause], seed: int = 0) -> None:
        self.candidates = candidates
        self._step = step
        self._seed = seed
        self._before = [lift_truth(candidate.holds(step.before)) for candidate in candidates]
        self._after = [lift_truth(candidate.holds(step.after)) for candidate in candidates]
        self._rounds = _KnownRounds(self._before, self._after)

    def find_inductive(self) -> list[int]:
        """Return the indices of the largest subset of candidates that is inductive; none if the solver gives up."""
        starting = z3.SimpleSolver()
        starting.add(*self._step.parameter_facts)
        initially = [lift_truth(candidate.holds(self._step.initial)) for candidate in self.candidates]
        kept = [index for index, holds in enumerate(initially) if starting.check(z3.Not(holds)) == z3.unsat]
        solver = self._build_round_solver(kept)
        solver.require_break()
        while kept:
            status, model = solver.check_round(kept)
            if model is None:
                return kept if status == z3.unsat else []
            self._rounds.add_model(model)
            broken = self._rounds.list_broken()
            solver.drop_candidates(index for index in kept if broken[index])
            kept = [index for index in kept if not broken[index]]
        return kept

    def _build_round_solver(self, about: Iterable[int]) -> _RoundSolver:
        return _RoundSolver(self._step, self._before, self._after, about, self._seed)

    def find_sufficient(self, inductive: Sequence[int], goal: Property) -> list[Clause] | None:
        """Find a small inductive part of the candidates that implies the goal; ``None`` if not even all of them do."""
        implies_goal = self._build_goal_query(lift_truth(goal.holds(self._step.before)), inductive)
        solver = self._build_round_solver(inductive)
        kept = sorted(inductive, key=self._compute_cost)
        wanted = _find_needed(kept, implies_goal)
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
            needed = _find_needed(kept, partial(self._preserves_candidate, solver, index))
            if needed is None:
                return None
            wanted += needed
        return [self.candidates[index] for index in self._drop_redundant(solver, sorted(chosen), implies_goal)]

    def _drop_redundant(
        self, solver: _RoundSolver, chosen: list[int], implies_goal: Callable[[Sequence[int]], bool]
    ) -> list[int]:
        """Drop redundant candidates, the longest first, as long as the rest is inductive and implies the goal."""
        for index in sorted(chosen, key=self._compute_cost, reverse=True):
            rest = [other for other in chosen if other != index]
            if implies_goal(rest) and all(self._preserves_candidate(solver, other, rest) for other in rest):
                chosen = rest
        return chosen

    def _build_goal_query(self, goal: Any, about: Iterable[int]) -> Callable[[Sequence[int]], bool]:
        """Build the query whether some candidates imply a goal about the same state."""
        solver = _build_state_solver(self._step, self._seed)
        assumed = {index: z3.Bool(f"assumed{index}") for index in about}
        solver.add(*(z3.Implies(literal, self._before[index]) for index, literal in assumed.items()), z3.Not(goal))
        return lambda kept: bool(solver.check(*(assumed[index] for index in kept)) == z3.unsat)

    def _preserves_candidate(self, solver: _RoundSolver, index: int, kept: Sequence[int]) -> bool:
        """Return whether a candidate holds after every round before which the kept ones hold."""
        if self._rounds.can_break(index, kept):
            return False
        status, model = solver.check_round(kept, [index])
        if model is not None:
            self._rounds.add_model(model)
        return bool(status == z3.unsat)

    def _compute_cost(self, index: int) -> tuple[int, int]:
        return len(self.candidates[index].premises), len(self.candidates[index].to_source())


def _find_needed(kept: Sequence[int], suffices: Callable[[Sequence[int]], bool]) -> list[int] | None:
    """Find candidates that suffice, preferring the first ones; ``None`` if all of them do not suffice."""
    if not suffices(kept):
        return None
    needed: list[int] = []
    # Binary search for the shortest sufficient prefix: its last element is needed.  Repeat with that one assumed.
    while not suffices(needed):
        low, high = 0, len(kept)
        while low + 1 < high:
            middle = (low + high) // 2
            if suffices([*needed, *kept[:middle]]):
                high = middle
            else:
                low = middle
        needed.append(kept[high - 1])
        kept = kept[: high - 1]
    return needed
