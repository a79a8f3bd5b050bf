"""Candidate conjuncts: clauses from templates over the model's variables that hold in every sampled state.

A premise fixes program counters and flags, and says what is in transit.  A conclusion fixes a flag or a program
counter, or bounds the difference of two quantities by a linear function of the parameters, as tightly as the samples
allow.  Variables may also be negated, so that the sum of one that counts up and one that counts down can be bounded.
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
"""Stands for the excess in a sample in which no state satisfies the premise."""


def candidates(
    system: System, samples: Sequence[Sample], most_conditions: int, with_sums: bool = False
) -> list[Clause]:
    """Build the clauses with at most ``most_conditions`` in a premise, where no weaker premise suffices."""
    premises = [premise for premise in _premises(system) if len(premise) <= most_conditions]
    masks = [[_mask(premise, sample) for sample in samples] for premise in premises]
    met = [(premise, mask) for premise, mask in zip(premises, masks, strict=True) if any(m.any() for m in mask)]
    return [*_settled(system, samples, met), *_bounded(system, samples, met, with_sums)]


def _premises(system: System) -> list[Premise]:
    """Enumerate the combinations of at most one statement about each control variable and buffer, the weakest first."""
    alternatives: list[list[Premise]] = []
    for variable in system.variables:
        match variable.sort:
            case Ages(bound=bound):
                delta = Linear.of({bound: 1})
                oldest, no_oldest = (InTransit(variable.name, bound, yes, delta, delta) for yes in (True, False))
                nonempty, empty = (InTransit(variable.name, bound, yes) for yes in (True, False))
                alternatives.append([(), (empty,), (nonempty,), (oldest,), (no_oldest,), (nonempty, no_oldest)])
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
    """Find the weakest premises that fix a flag or a program counter, or whether a buffer is empty."""
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
            if all((true | ~selected).all() for true, selected in zip(holds, mask, strict=True)):
                enough.append(premise)
                yield Clause(premise, conclusion)


@dataclass(frozen=True)
class _Quantity:
    """A number to be compared: a variable, a defined parameter, an end of a buffer, or (without a name) zero."""

    name: str
    end: str = ""
    """``oldest`` or ``youngest``, of a buffer."""
    bound: str = ""
    times: int = 1
    """1, or -1 for the negation of a variable."""

    def column(self, sample: Sample) -> Column:
        if not self.name:
            return np.zeros(sample.size, dtype=np.int64)
        if not self.end:
            return self.times * sample.number(self.name)
        buffer, delta = sample.state[self.name], sample.parameters[self.bound]
        oldest = self.end == "oldest"
        ages = np.full(sample.size, -1 if oldest else delta + 1, dtype=np.int64)
        for age in range(delta + 1) if oldest else range(delta, -1, -1):
            ages = np.where(sample.column(buffer.has(age)), age, ages)
        return ages

    def missing(self, column: Column, sample: Sample) -> Column:
        """Mark the states in which the buffer is empty."""
        return column < 0 if self.end == "oldest" else column > sample.parameters[self.bound]

    def linear(self) -> Linear:
        return Linear.of({self.name: self.times} if self.name else {})


def _quantities(system: System, with_sums: bool) -> list[_Quantity]:
    quantities = [_Quantity("")]
    signs = (1, -1) if with_sums else (1,)
    variables = [v.name for v in system.variables if isinstance(v.sort, Integers)]
    quantities += [_Quantity(name, times=sign) for name in variables for sign in signs]
    quantities += [_Quantity(p.name) for p in system.parameters if isinstance(p.value, Expression)]
    for variable in system.variables:
        if isinstance(variable.sort, Ages):
            quantities += [_Quantity(variable.name, end, variable.sort.bound) for end in ("oldest", "youngest")]
    return quantities


def _bounded(
    system: System, samples: Sequence[Sample], met: Sequence[tuple[Premise, Sequence[Column]]], with_sums: bool
) -> Iterator[Clause]:
    """Bound the excess of one quantity over another by the lowest planes over the parameters."""
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
            met_in = most > _UNMET
            if not met_in.any():
                continue
            constants = (most[met_in, None] - heights[met_in]).max(axis=0)
            weaker = [known[other] for other in _weaker(premise) if other in known]
            known[premise] = constants
            least = np.minimum.reduce(weaker) if weaker else None
            for index in _lowest(heights[met_in] + constants):
                if least is None or constants[index] < least[index]:
                    plane = dict(zip(parameters, planes[index].tolist(), strict=True))
                    yield Clause(premise, _at_most(left, right, Linear.of(plane, int(constants[index]))))


def _excess(
    left: _Quantity,
    right: _Quantity,
    columns: dict[_Quantity, list[Column]],
    samples: Sequence[Sample],
    mask: Sequence[Column],
) -> Any:
    """Compute the largest excess of the left quantity over the right one under the premise, in each sample.

    Return ``None`` if the comparison implies that a message is in transit in a state in which there is none.
    """
    excess = np.full(len(samples), _UNMET, dtype=np.int64)
    for index, (sample, selected) in enumerate(zip(samples, mask, strict=True)):
        for quantity, claims_some in ((left, left.end == "youngest"), (right, right.end == "oldest")):
            if quantity.end:
                missing = quantity.missing(columns[quantity][index], sample)
                if claims_some and (missing & selected).any():
                    return None
                selected = selected & ~missing
        if selected.any():
            excess[index] = (columns[left][index][selected] - columns[right][index][selected]).max()
    return excess


def _weaker(premise: Premise) -> Iterator[Premise]:
    """Enumerate the proper subsets of the conditions."""
    for kept in product((False, True), repeat=len(premise)):
        if not all(kept):
            yield tuple(condition for condition, keep in zip(premise, kept, strict=True) if keep)


def _lowest(heights: Any) -> Iterator[int]:
    """Enumerate the planes below which no other one lies; of equal planes, only the first."""
    for index in range(heights.shape[1]):
        below = (heights <= heights[:, index : index + 1]).all(axis=0)
        equal = (heights == heights[:, index : index + 1]).all(axis=0)
        if (below == equal).all() and equal.argmax() == index:
            yield index


def _at_most(left: _Quantity, right: _Quantity, bound: Linear) -> Condition:
    """Write ``left - right <= bound`` as a condition."""
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
