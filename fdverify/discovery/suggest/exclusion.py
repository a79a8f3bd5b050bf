"""Clauses that are false in one state and true in every sampled one.

Such a clause says that some conditions, all true in that state, are never true together; or that under such conditions
a quantity is bounded by a sum over the parameters that it exceeds in that state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from fdverify.discovery.clauses.clause import AtMost, Clause, Condition, InTransit, Linear
from fdverify.discovery.clauses.samples import Sample
from fdverify.models.expression import Expression
from fdverify.models.system import Ages, Integers, State, System
from fdverify.symbolic.summary import SummaryBuffer

_FAR = 1 << 40
_MOST_CONDITIONS = 3
_MOST_PREMISES = 2
_SLOPES = range(-2, 3)
_PLANES_TRIED = 3


@dataclass(frozen=True)
class _Quantity:
    """A sum, or how far it lies from an end of a buffer; ``sign`` is that of the end."""

    sum: Linear
    buffer: str = ""
    bound: str = ""
    end: str = ""
    sign: int = 0

    def value(self, state: State) -> Any:
        total = self.sum.value(state)
        if not self.end:
            return total
        oldest, youngest = _ends(state[self.buffer], state[self.bound])
        there = oldest >= 0
        claims_some = (self.end == "oldest") == (self.sign < 0)
        value = total + self.sign * (oldest if self.end == "oldest" else youngest)
        return np.where(there, value, _FAR if claims_some else -_FAR)

    def at_most(self, bound: Linear) -> Condition:
        """In the words of the model."""
        match self.end, self.sign:
            case "oldest", -1:
                low = self.sum.minus(bound)
                all_old = low == Linear.of({self.bound: 1})
                return InTransit(self.buffer, self.bound, True, low=low, high=low if all_old else None)
            case "youngest", 1:
                return InTransit(self.buffer, self.bound, True, high=bound.minus(self.sum))
            case "oldest", 1:
                return InTransit(self.buffer, self.bound, False, low=bound.minus(self.sum).shifted(1))
            case "youngest", -1:
                return InTransit(self.buffer, self.bound, False, high=self.sum.minus(bound).shifted(-1))
            case _:
                return AtMost.zero(self.sum.minus(bound))


def _ends(buffer: Any, delta: int) -> tuple[Any, Any]:
    """The oldest and the youngest age; −1 and Δ+1 if there is none."""
    if isinstance(buffer, SummaryBuffer):
        return np.asarray(buffer.oldest), np.asarray(buffer.youngest)
    there = [np.asarray(buffer.has(age)) for age in range(delta + 1)]
    oldest: Any = np.where(there[0], 0, -1)
    youngest: Any = np.where(there[delta], delta, delta + 1)
    for age in range(delta + 1):
        oldest = np.where(there[age], age, oldest)
        youngest = np.where(there[delta - age], delta - age, youngest)
    return oldest, youngest


class Exclusion:
    def __init__(self, system: System, words: Sequence[Condition], samples: Sequence[Sample]) -> None:
        self._conditions = [literal for word in words for literal in (word, word.negated())]
        self._columns = [
            np.concatenate([sample.column(condition.holds(sample.state)) for sample in samples])
            for condition in self._conditions
        ]
        self._packed = [np.packbits(column) for column in self._columns]
        ends = np.cumsum([sample.size for sample in samples])
        self._starts = np.concatenate([[0], ends[:-1]])
        self._slices = [slice(start, end) for start, end in zip(self._starts, ends, strict=True)]
        self._parameters = system.arbitrary()
        self._points = np.array([[sample.parameters[name] for name in self._parameters] for sample in samples])
        self._slopes = np.array(list(product(*_slopes(self._parameters, words))), dtype=np.int64)
        self._heights = self._points @ self._slopes.T
        self._quantities = _quantities(system, words)
        self._values = [
            np.concatenate([np.broadcast_to(q.value(sample.state), (sample.size,)) for sample in samples])
            for q in self._quantities
        ]

    def clauses(self, state: State, enough: int) -> list[Clause]:
        """The simplest ones first; once there are ``enough``, none with more conditions are looked for."""
        true = [at for at, condition in enumerate(self._conditions) if condition.holds(state)]
        found = [*self._never_together(true, enough), *self._bounds(state, true, enough)]
        return sorted(dict.fromkeys(found), key=lambda clause: (len(clause.premises), len(clause.source())))

    def _never_together(self, true: Sequence[int], enough: int) -> Iterator[Clause]:
        """Smallest sets of true conditions that no sample satisfies."""
        open_sets: list[tuple[tuple[int, ...], Any]] = [((), np.packbits(np.ones(len(self._columns[0]), dtype=bool)))]
        never: list[set[int]] = []
        for _ in range(_MOST_CONDITIONS):
            longer = []
            for chosen, mask in open_sets:
                for at in true:
                    if chosen and at <= chosen[-1]:
                        continue
                    both = mask & self._packed[at]
                    if both.any():
                        longer.append(((*chosen, at), both))
                        continue
                    whole = {*chosen, at}
                    if not any(smaller <= whole for smaller in never):
                        never.append(whole)
                        yield _clause([self._conditions[one] for one in sorted(whole)])
            if len(never) >= enough:
                return
            open_sets = longer

    def _bounds(self, state: State, true: Sequence[int], enough: int) -> Iterator[Clause]:
        here = np.array([state[name] for name in self._parameters])
        (same,) = (self._points == here).all(axis=1).nonzero()
        values = [int(quantity.value(state)) for quantity in self._quantities]
        bounded: list[list[frozenset[int]]] = [[] for _ in values]
        for size in range(_MOST_PREMISES + 1):
            if sum(map(len, bounded)) >= enough:
                return
            for chosen in combinations(true, size):
                mask = np.logical_and.reduce([self._columns[at] for at in chosen]) if chosen else None
                if mask is not None and not mask.any():
                    continue
                for number, value in enumerate(values):
                    if any(fewer <= set(chosen) for fewer in bounded[number]):
                        continue
                    planes = self._planes(number, value, here, mask, same)
                    if planes:
                        bounded[number].append(frozenset(chosen))
                    for plane in planes:
                        premises = tuple(self._conditions[at] for at in chosen)
                        yield Clause(premises, self._quantities[number].at_most(plane))

    def _planes(self, number: int, value: int, here: Any, mask: Any, same: Any) -> list[Linear]:
        """Sums over the parameters below this value that bound a quantity in the samples, the best fits first."""
        column = self._values[number]
        for at in same:  # a sample of the same instance settles most cases at once
            part = column[self._slices[at]] if mask is None else column[self._slices[at]][mask[self._slices[at]]]
            if len(part) and part.max() >= value:
                return []
        shown = column if mask is None else np.where(mask, column, -_FAR)
        most = np.maximum.reduceat(shown, self._starts)
        met = most > -_FAR
        if not met.any() or (most >= _FAR).any():
            return []
        constants = (most[met, None] - self._heights[met]).max(axis=0)
        excluding = (self._slopes @ here + constants < value).nonzero()[0]
        fits = (self._heights[met] + constants == most[met, None]).sum(axis=0)
        size = np.abs(self._slopes).sum(axis=1) + np.abs(constants)
        ranked = sorted(excluding, key=lambda at: (-int(fits[at]), int(size[at]), at))
        simplest = sorted(excluding, key=lambda at: (int(size[at]), -int(fits[at]), at))
        chosen = dict.fromkeys([*ranked[:_PLANES_TRIED], *simplest[:1]])
        return [
            Linear.of(dict(zip(self._parameters, self._slopes[at].tolist(), strict=True)), int(constants[at]))
            for at in chosen
        ]


def _clause(together: Sequence[Condition]) -> Clause:
    """That the conditions do not hold together, told as a conclusion from all but one: a comparison if there is one."""
    ranks = {AtMost: 2, InTransit: 1}
    last = max(range(len(together)), key=lambda at: ranks.get(type(together[at]), 0))
    premises = tuple(condition for at, condition in enumerate(together) if at != last)
    return Clause(premises, together[last].negated())


def _sums_of(words: Iterable[Condition]) -> Iterator[Linear]:
    for word in words:
        match word:
            case AtMost(left, right):
                yield left.minus(right)
            case InTransit(low=low, high=high):
                yield from (part for part in (low, high) if part is not None)


def _slopes(parameters: Sequence[str], words: Sequence[Condition]) -> list[list[int]]:
    """For each parameter, the factors it has in the proof, and small ones."""
    found = {name: set(_SLOPES) for name in parameters}
    for total in _sums_of(words):
        for name, times in total.coefficients:
            if name in found:
                found[name] |= {times, -times}
    return [sorted(found[name]) for name in parameters]


def _quantities(system: System, words: Sequence[Condition]) -> list[_Quantity]:
    """Differences of two variables, distances of a variable from the ends of buffers, and the sums of the proof."""
    variables = [v.name for v in system.variables if isinstance(v.sort, Integers)]
    defined = [p.name for p in system.parameters if isinstance(p.value, Expression)]
    singles = [Linear.of({name: 1}) for name in (*variables, *defined)]
    zero = Linear(())
    sums = dict.fromkeys(one.minus(other) for one, other in product([zero, *singles], repeat=2) if one != other)
    for total in _sums_of(words):
        changing = {name: times for name, times in total.coefficients if name not in system.arbitrary()}
        for renamed in (changing, *_renamed(changing, variables)):
            sums |= dict.fromkeys((Linear.of(renamed), zero.minus(Linear.of(renamed))))
    found = [_Quantity(total) for total in sums if total.coefficients]
    for variable in system.variables:
        if isinstance(variable.sort, Ages):
            for end, sign in product(("oldest", "youngest"), (1, -1)):
                found += [
                    _Quantity(one if sign < 0 else zero.minus(one), variable.name, variable.sort.bound, end, sign)
                    for one in (zero, *singles)
                ]
    return found


def _renamed(total: dict[str, int], variables: Sequence[str]) -> Iterator[dict[str, int]]:
    """The same with another variable in a product."""
    for name, times in total.items():
        if "*" not in name:
            continue
        for factor, other in product(name.split("*"), variables):
            if factor in variables:
                others = name.split("*")
                others[others.index(factor)] = other
                renamed = "*".join(sorted(others))
                if renamed not in total:
                    yield {**{n: t for n, t in total.items() if n != name}, renamed: times}
