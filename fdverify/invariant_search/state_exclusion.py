"""Clauses that exclude a state: they are false in it, and true in every sampled state.

Such a clause says that some conditions, all true in that state, never hold together; or that under such conditions a
quantity is bounded by a linear function of the parameters, which it exceeds in that state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from fdverify.invariant_search.clause import AtMost, Clause, Condition, InTransit, LinearSum
from fdverify.invariant_search.state_samples import StateSample
from fdverify.models.expression import Expression
from fdverify.models.system import Ages, Integers, State, System
from fdverify.symbolic.buffer_summary import SummaryBuffer

_FAR = 1 << 40
_MOST_CONDITIONS = 3
_MOST_PREMISES = 2
_SLOPES = range(-2, 3)
_PLANES_TRIED = 3


@dataclass(frozen=True)
class _BoundedQuantity:
    """A sum, to which an end of a buffer may be added or from which it may be subtracted, according to ``sign``."""

    sum: LinearSum
    buffer: str = ""
    bound: str = ""
    end: str = ""
    sign: int = 0

    def evaluate(self, state: State) -> Any:
        total = self.sum.evaluate(state)
        if not self.end:
            return total
        oldest, youngest = _find_ends(state[self.buffer], state[self.bound])
        nonempty = oldest >= 0
        claims_some = (self.end == "oldest") == (self.sign < 0)
        value = total + self.sign * (oldest if self.end == "oldest" else youngest)
        return np.where(nonempty, value, _FAR if claims_some else -_FAR)

    def build_at_most(self, bound: LinearSum) -> Condition:
        """Write that the quantity is at most the bound, as a condition."""
        match self.end, self.sign:
            case "oldest", -1:
                low = self.sum.subtract(bound)
                all_old = low == LinearSum.from_coefficients({self.bound: 1})
                return InTransit(self.buffer, self.bound, True, low=low, high=low if all_old else None)
            case "youngest", 1:
                return InTransit(self.buffer, self.bound, True, high=bound.subtract(self.sum))
            case "oldest", 1:
                return InTransit(self.buffer, self.bound, False, low=bound.subtract(self.sum).add_constant(1))
            case "youngest", -1:
                return InTransit(self.buffer, self.bound, False, high=self.sum.subtract(bound).add_constant(-1))
            case _:
                return AtMost.from_excess(self.sum.subtract(bound))


def _find_ends(buffer: Any, delta: int) -> tuple[Any, Any]:
    """Return the oldest and the youngest age; −1 and Δ+1 if the buffer is empty."""
    if isinstance(buffer, SummaryBuffer):
        return np.asarray(buffer.oldest), np.asarray(buffer.youngest)
    present = [np.asarray(buffer.has(age)) for age in range(delta + 1)]
    oldest: Any = np.where(present[0], 0, -1)
    youngest: Any = np.where(present[delta], delta, delta + 1)
    for age in range(delta + 1):
        oldest = np.where(present[age], age, oldest)
        youngest = np.where(present[delta - age], delta - age, youngest)
    return oldest, youngest


class StateExclusion:
    """The search for clauses that exclude a state, over a vocabulary of conditions and a set of samples."""

    def __init__(self, system: System, vocabulary: Sequence[Condition], samples: Sequence[StateSample]) -> None:
        self._conditions = [literal for word in vocabulary for literal in (word, word.negate())]
        self._columns = [
            np.concatenate([sample.to_column(condition.holds(sample.state)) for sample in samples])
            for condition in self._conditions
        ]
        self._packed = [np.packbits(column) for column in self._columns]
        ends = np.cumsum([sample.size for sample in samples])
        self._starts = np.concatenate([[0], ends[:-1]])
        self._slices = [slice(start, end) for start, end in zip(self._starts, ends, strict=True)]
        self._parameters = system.list_arbitrary()
        self._points = np.array([[sample.parameters[name] for name in self._parameters] for sample in samples])
        self._slopes = np.array(list(product(*_list_slopes(self._parameters, vocabulary))), dtype=np.int64)
        self._heights = self._points @ self._slopes.T
        self._quantities = _list_quantities(system, vocabulary)
        self._values = [
            np.concatenate([np.broadcast_to(q.evaluate(sample.state), (sample.size,)) for sample in samples])
            for q in self._quantities
        ]

    def find_clauses(self, state: State, enough: int) -> list[Clause]:
        """Find excluding clauses, the simplest first; once there are ``enough``, do not try more conditions."""
        true = [index for index, condition in enumerate(self._conditions) if condition.holds(state)]
        clauses = [*self._find_incompatible_conditions(true, enough), *self._find_bounds(state, true, enough)]
        return sorted(dict.fromkeys(clauses), key=lambda clause: (len(clause.premises), len(clause.to_source())))

    def _find_incompatible_conditions(self, true: Sequence[int], enough: int) -> Iterator[Clause]:
        """Find the minimal sets of true conditions that no sampled state satisfies."""
        open_sets: list[tuple[tuple[int, ...], Any]] = [((), np.packbits(np.ones(len(self._columns[0]), dtype=bool)))]
        never: list[set[int]] = []
        for _ in range(_MOST_CONDITIONS):
            longer = []
            for chosen, mask in open_sets:
                for index in true:
                    if chosen and index <= chosen[-1]:
                        continue
                    both = mask & self._packed[index]
                    if both.any():
                        longer.append(((*chosen, index), both))
                        continue
                    whole = {*chosen, index}
                    if not any(smaller <= whole for smaller in never):
                        never.append(whole)
                        yield _build_clause([self._conditions[one] for one in sorted(whole)])
            if len(never) >= enough:
                return
            open_sets = longer

    def _find_bounds(self, state: State, true: Sequence[int], enough: int) -> Iterator[Clause]:
        """Find bounds on quantities that hold in the samples under true conditions, and that the state exceeds."""
        here = np.array([state[name] for name in self._parameters])
        (same,) = (self._points == here).all(axis=1).nonzero()
        values = [int(quantity.evaluate(state)) for quantity in self._quantities]
        bounded: list[list[frozenset[int]]] = [[] for _ in values]
        for size in range(_MOST_PREMISES + 1):
            if sum(map(len, bounded)) >= enough:
                return
            for chosen in combinations(true, size):
                mask = np.logical_and.reduce([self._columns[index] for index in chosen]) if chosen else None
                if mask is not None and not mask.any():
                    continue
                for number, value in enumerate(values):
                    if any(fewer <= set(chosen) for fewer in bounded[number]):
                        continue
                    planes = self._find_planes(number, value, here, mask, same)
                    if planes:
                        bounded[number].append(frozenset(chosen))
                    for plane in planes:
                        premises = tuple(self._conditions[index] for index in chosen)
                        yield Clause(premises, self._quantities[number].build_at_most(plane))

    def _find_planes(self, number: int, value: int, here: Any, mask: Any, same: Any) -> list[LinearSum]:
        """Find linear functions that bound a quantity in the samples and are below this value, the best fits first."""
        column = self._values[number]
        for index in same:  # a sample of the same instance settles most cases at once
            there = self._slices[index]
            part = column[there] if mask is None else column[there][mask[there]]
            if len(part) and part.max() >= value:
                return []
        selected = column if mask is None else np.where(mask, column, -_FAR)
        most = np.maximum.reduceat(selected, self._starts)
        met = most > -_FAR
        if not met.any() or (most >= _FAR).any():
            return []
        constants = (most[met, None] - self._heights[met]).max(axis=0)
        excluding = (self._slopes @ here + constants < value).nonzero()[0]
        fits = (self._heights[met] + constants == most[met, None]).sum(axis=0)
        size = np.abs(self._slopes).sum(axis=1) + np.abs(constants)
        ranked = sorted(excluding, key=lambda index: (-int(fits[index]), int(size[index]), index))
        simplest = sorted(excluding, key=lambda index: (int(size[index]), -int(fits[index]), index))
        chosen = dict.fromkeys([*ranked[:_PLANES_TRIED], *simplest[:1]])
        return [
            LinearSum.from_coefficients(
                dict(zip(self._parameters, self._slopes[index].tolist(), strict=True)), int(constants[index])
            )
            for index in chosen
        ]


def _build_clause(together: Sequence[Condition]) -> Clause:
    """Build the clause that the conditions never hold together; the conclusion negates a comparison if there is one."""
    ranks = {AtMost: 2, InTransit: 1}
    last = max(range(len(together)), key=lambda index: ranks.get(type(together[index]), 0))
    premises = tuple(condition for index, condition in enumerate(together) if index != last)
    return Clause(premises, together[last].negate())


def _list_sums(conditions: Iterable[Condition]) -> Iterator[LinearSum]:
    for condition in conditions:
        match condition:
            case AtMost(left, right):
                yield left.subtract(right)
            case InTransit(low=low, high=high):
                yield from (part for part in (low, high) if part is not None)


def _list_slopes(parameters: Sequence[str], vocabulary: Sequence[Condition]) -> list[list[int]]:
    """List for each parameter the coefficients to try: small ones, and those that it has in the proof."""
    slopes = {name: set(_SLOPES) for name in parameters}
    for total in _list_sums(vocabulary):
        for name, times in total.coefficients:
            if name in slopes:
                slopes[name] |= {times, -times}
    return [sorted(slopes[name]) for name in parameters]


def _list_quantities(system: System, vocabulary: Sequence[Condition]) -> list[_BoundedQuantity]:
    """List differences of variables, distances of variables from the ends of buffers, and the sums of the proof."""
    variables = [v.name for v in system.variables if isinstance(v.sort, Integers)]
    defined = [p.name for p in system.parameters if isinstance(p.value, Expression)]
    singles = [LinearSum.from_coefficients({name: 1}) for name in (*variables, *defined)]
    zero = LinearSum(())
    sums = dict.fromkeys(one.subtract(other) for one, other in product([zero, *singles], repeat=2) if one != other)
    for total in _list_sums(vocabulary):
        changing = {name: times for name, times in total.coefficients if name not in system.list_arbitrary()}
        for renamed in (changing, *_substitute_in_products(changing, variables)):
            sums |= dict.fromkeys(
                (LinearSum.from_coefficients(renamed), zero.subtract(LinearSum.from_coefficients(renamed)))
            )
    quantities = [_BoundedQuantity(total) for total in sums if total.coefficients]
    for variable in system.variables:
        if isinstance(variable.sort, Ages):
            for end, sign in product(("oldest", "youngest"), (1, -1)):
                quantities += [
                    _BoundedQuantity(
                        one if sign < 0 else zero.subtract(one), variable.name, variable.sort.bound, end, sign
                    )
                    for one in (zero, *singles)
                ]
    return quantities


def _substitute_in_products(total: dict[str, int], variables: Sequence[str]) -> Iterator[dict[str, int]]:
    """Enumerate the sums in which another variable takes the place of one in a product."""
    for name, times in total.items():
        if "*" not in name:
            continue
        for factor, other in product(name.split("*"), variables):
            if factor in variables:
                factors = name.split("*")
                factors[factors.index(factor)] = other
                renamed = "*".join(sorted(factors))
                if renamed not in total:
                    yield {**{n: t for n, t in total.items() if n != name}, renamed: times}
