"""Candidates for conjuncts: clauses from templates over the model's variables that hold in every sampled state.

A premise says where program counters and flags are and what is in transit.  A conclusion settles a flag or a program
counter, or bounds the difference of two quantities by a linear function of the parameters, as tightly as the samples
allow.  Of what counts down and what counts up the sum is to be bounded: variables may be negated as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from fdverify.discovery.clauses.clause import AtMost, Clause, Condition, InTransit, Is, IsAt, Linear
from fdverify.discovery.clauses.samples import Column, Sample
from fdverify.models.expression import Expression
from fdverify.models.system import Ages, Flags, Integers, Labels, System

Premise: TypeAlias = tuple[Condition, ...]
_SLOPES = (-3, -2, -1, 0, 1, 2, 3)
_UNMET = -(1 << 40)


def candidates(
    system: System, samples: Sequence[Sample], most_conditions: int, with_sums: bool = False
) -> list[Clause]:
    """The clauses of at most so many conditions in a premise; none for which a weaker premise would do."""
    premises = [premise for premise in _premises(system) if len(premise) <= most_conditions]
    masks = [[_mask(premise, sample) for sample in samples] for premise in premises]
    met = [(premise, mask) for premise, mask in zip(premises, masks, strict=True) if any(m.any() for m in mask)]
    return [*_settled(system, samples, met), *_bounded(system, samples, met, with_sums)]


def _premises(system: System) -> list[Premise]:
    """Every combination of one statement, or none, about each program counter, flag and buffer, the weakest first."""
    alternatives: list[list[Premise]] = []
    for variable in system.variables:
        match variable.sort:
            case Ages(bound=bound):
                delta = Linear.of({bound: 1})
                old, not_old = (InTransit(variable.name, bound, yes, delta, delta) for yes in (True, False))
                some, none = (InTransit(variable.name, bound, yes) for yes in (True, False))
                alternatives.append([(), (none,), (some,), (old,), (not_old,), (some, not_old)])
            case Integers():
                pass
            case _:
                alternatives.append([(), *((condition,) for condition in _values(variable.name, variable.sort))])
    return sorted((sum(parts, ()) for parts in product(*alternatives)), key=len)


def _values(name: str, sort: Labels | Flags) -> list[Condition]:
    if isinstance(sort, Flags):
        return [Is(name, True), Is(name, False)]
    return [IsAt(name, label) for label in sort.names]


def _mask(premise: Premise, sample: Sample) -> Column:
    mask = np.ones(sample.size, dtype=bool)
    for condition in premise:
        mask = mask & sample.column(condition.holds(sample.state))
    return mask


def _settled(
    system: System, samples: Sequence[Sample], met: Sequence[tuple[Premise, Sequence[Column]]]
) -> Iterator[Clause]:
    """Premises under which a flag or a program counter has one value, or a buffer is empty or not."""
    conclusions: list[tuple[str, Condition]] = []
    for variable in system.variables:
        match variable.sort:
            case Ages(bound=bound):
                conclusions += [(variable.name, InTransit(variable.name, bound, yes)) for yes in (True, False)]
            case Labels() | Flags() as sort:
                conclusions += [(variable.name, condition) for condition in _values(variable.name, sort)]
            case _:
                pass
    for name, conclusion in conclusions:
        holds = [sample.column(conclusion.holds(sample.state)) for sample in samples]
        enough: list[Premise] = []
        for premise, mask in met:
            if any(set(other) <= set(premise) for other in enough):
                continue
            if any(isinstance(condition, Is | IsAt | InTransit) and condition.subject == name for condition in premise):
                continue
            if all((there | ~selected).all() for there, selected in zip(holds, mask, strict=True)):
                enough.append(premise)
                yield Clause(premise, conclusion)


@dataclass(frozen=True)
class _Quantity:
    """A number to be compared: a variable, a parameter that others define, an end of a buffer, or (no name) zero."""

    name: str
    end: str = ""
    """``oldest`` or ``youngest``, of a buffer."""
    bound: str = ""
    times: int = 1
    """Or -1 for its negation, of a variable."""

    def column(self, sample: Sample) -> Column:
        if not self.name:
            return np.zeros(sample.size, dtype=np.int64)
        if not self.end:
            return self.times * sample.number(self.name)
        buffer, delta = sample.state[self.name], sample.parameters[self.bound]
        oldest = self.end == "oldest"
        found = np.full(sample.size, -1 if oldest else delta + 1, dtype=np.int64)
        for age in range(delta + 1) if oldest else range(delta, -1, -1):
            found = np.where(sample.column(buffer.has(age)), age, found)
        return found

    def missing(self, column: Column, sample: Sample) -> Column:
        """Where the buffer is empty."""
        return column < 0 if self.end == "oldest" else column > sample.parameters[self.bound]

    def linear(self) -> Linear:
        return Linear.of({self.name: self.times} if self.name else {})


def _quantities(system: System, with_sums: bool) -> list[_Quantity]:
    found = [_Quantity("")]
    signs = (1, -1) if with_sums else (1,)
    found += [_Quantity(v.name, times=sign) for v in system.variables if isinstance(v.sort, Integers) for sign in signs]
    found += [_Quantity(p.name) for p in system.parameters if isinstance(p.value, Expression)]
    for variable in system.variables:
        if isinstance(variable.sort, Ages):
            found += [_Quantity(variable.name, end, variable.sort.bound) for end in ("oldest", "youngest")]
    return found


def _bounded(
    system: System, samples: Sequence[Sample], met: Sequence[tuple[Premise, Sequence[Column]]], with_sums: bool
) -> Iterator[Clause]:
    """How far one quantity exceeds another at most, as planes over the parameters below which no other plane lies."""
    parameters = system.arbitrary()
    points = np.array([[sample.parameters[name] for name in parameters] for sample in samples])
    planes = np.array(list(product(_SLOPES, repeat=len(parameters))), dtype=np.int64)
    heights = points @ planes.T  # of each plane at each sample
    quantities = _quantities(system, with_sums)
    columns = {quantity: [quantity.column(sample) for sample in samples] for quantity in quantities}
    for left, right in product(quantities, repeat=2):
        if (left.name, left.end) == (right.name, right.end) or (left.end and right.end):
            continue
        known: dict[Premise, Any] = {}
        for premise, mask in met:
            most = _excess(left, right, columns, samples, mask)
            if most is None:
                continue
            there = most > _UNMET
            if not there.any():
                continue
            constants = (most[there, None] - heights[there]).max(axis=0)
            weaker = [known[other] for other in _weaker(premise) if other in known]
            known[premise] = constants
            least = np.minimum.reduce(weaker) if weaker else None
            for at in _lowest(heights[there] + constants):
                if least is None or constants[at] < least[at]:
                    plane = dict(zip(parameters, planes[at].tolist(), strict=True))
                    yield Clause(premise, _at_most(left, right, Linear.of(plane, int(constants[at]))))


def _excess(
    left: _Quantity,
    right: _Quantity,
    columns: dict[_Quantity, list[Column]],
    samples: Sequence[Sample],
    mask: Sequence[Column],
) -> Any:
    """In each sample, how far the left one exceeds the right one at most under the premise.

    ``None`` if the comparison says that a message is in transit, and there is none.
    """
    found = np.full(len(samples), _UNMET, dtype=np.int64)
    for at, (sample, selected) in enumerate(zip(samples, mask, strict=True)):
        for quantity, claims_some in ((left, left.end == "youngest"), (right, right.end == "oldest")):
            if quantity.end:
                missing = quantity.missing(columns[quantity][at], sample)
                if claims_some and (missing & selected).any():
                    return None
                selected = selected & ~missing
        if selected.any():
            found[at] = (columns[left][at][selected] - columns[right][at][selected]).max()
    return found


def _weaker(premise: Premise) -> Iterator[Premise]:
    """The same without some conditions."""
    for kept in product((False, True), repeat=len(premise)):
        if not all(kept):
            yield tuple(condition for condition, keep in zip(premise, kept, strict=True) if keep)


def _lowest(heights: Any) -> Iterator[int]:
    """The planes below which no other one lies, each once."""
    for at in range(heights.shape[1]):
        below = (heights <= heights[:, at : at + 1]).all(axis=0)
        equal = (heights == heights[:, at : at + 1]).all(axis=0)
        if (below == equal).all() and equal.argmax() == at:
            yield at


def _at_most(left: _Quantity, right: _Quantity, bound: Linear) -> Condition:
    """``left - right <= bound``, in the words of the model."""
    if right.end == "oldest":
        return InTransit(right.name, right.bound, True, low=left.linear().minus(bound))
    if left.end == "youngest":
        return InTransit(left.name, left.bound, True, high=right.linear().plus(bound))
    if left.end == "oldest":
        return InTransit(left.name, left.bound, False, low=right.linear().plus(bound).shifted(1))
    if right.end == "youngest":
        return InTransit(right.name, right.bound, False, high=left.linear().minus(bound).shifted(-1))
    if left.times < 0 or right.times < 0:
        return AtMost.zero(left.linear().minus(right.linear()).minus(bound))
    return AtMost(left.linear(), right.linear().plus(bound))
