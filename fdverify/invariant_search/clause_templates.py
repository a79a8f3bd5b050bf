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

from fdverify.invariant_search.clause import AtMost, Clause, Condition, FlagIs, InTransit, LabelIs, LinearSum
from fdverify.invariant_search.state_samples import Column, StateSample
from fdverify.models.expression import Expression
from fdverify.models.system import Ages, Flags, Integers, Labels, System

ClausePremise: TypeAlias = tuple[Condition, ...]
_SLOPES = (-3, -2, -1, 0, 1, 2, 3)
_UNMET = -(1 << 40)
"""Stands for the excess in a sample in which no state satisfies the premise."""


def build_candidates(
    system: System, samples: Sequence[StateSample], most_conditions: int, with_sums: bool = False
) -> list[Clause]:
    """Build the clauses with at most ``most_conditions`` in a premise, where no weaker premise suffices."""
    premises = [premise for premise in _enumerate_premises(system) if len(premise) <= most_conditions]
    masks = [[_compute_mask(premise, sample) for sample in samples] for premise in premises]
    met = [(premise, mask) for premise, mask in zip(premises, masks, strict=True) if any(m.any() for m in mask)]
    return [*_find_fixed_values(system, samples, met), *_find_bounds(system, samples, met, with_sums)]


def _enumerate_premises(system: System) -> list[ClausePremise]:
    """Enumerate the combinations of at most one statement about each control variable and buffer, the weakest first."""
    alternatives: list[list[ClausePremise]] = []
    for variable in system.variables:
        match variable.sort:
            case Ages(bound=bound):
                delta = LinearSum.from_coefficients({bound: 1})
                oldest, no_oldest = (InTransit(variable.name, bound, yes, delta, delta) for yes in (True, False))
                nonempty, empty = (InTransit(variable.name, bound, yes) for yes in (True, False))
                alternatives.append([(), (empty,), (nonempty,), (oldest,), (no_oldest,), (nonempty, no_oldest)])
            case Integers():
                pass
            case _:
                alternatives.append(
                    [(), *((condition,) for condition in _list_value_conditions(variable.name, variable.sort))]
                )
    return sorted((sum(parts, ()) for parts in product(*alternatives)), key=len)


def _list_value_conditions(name: str, sort: Labels | Flags) -> list[Condition]:
    if isinstance(sort, Flags):
        return [FlagIs(name, True), FlagIs(name, False)]
    return [LabelIs(name, label) for label in sort.names]


def _compute_mask(premise: ClausePremise, sample: StateSample) -> Column:
    mask = np.ones(sample.size, dtype=bool)
    for condition in premise:
        mask = mask & sample.to_column(condition.holds(sample.state))
    return mask


def _find_fixed_values(
    system: System, samples: Sequence[StateSample], met: Sequence[tuple[ClausePremise, Sequence[Column]]]
) -> Iterator[Clause]:
    """Find the weakest premises that fix a flag or a program counter, or whether a buffer is empty."""
    conclusions: list[tuple[str, Condition]] = []
    for variable in system.variables:
        match variable.sort:
            case Ages(bound=bound):
                conclusions += [(variable.name, InTransit(variable.name, bound, yes)) for yes in (True, False)]
            case Labels() | Flags() as sort:
                conclusions += [(variable.name, condition) for condition in _list_value_conditions(variable.name, sort)]
            case _:
                pass
    for name, conclusion in conclusions:
        holds = [sample.to_column(conclusion.holds(sample.state)) for sample in samples]
        enough: list[ClausePremise] = []
        for premise, mask in met:
            if any(set(other) <= set(premise) for other in enough):
                continue
            if any(
                isinstance(condition, FlagIs | LabelIs | InTransit) and condition.subject == name
                for condition in premise
            ):
                continue
            if all((true | ~selected).all() for true, selected in zip(holds, mask, strict=True)):
                enough.append(premise)
                yield Clause(premise, conclusion)


@dataclass(frozen=True)
class _ComparedQuantity:
    """A number to be compared: a variable, a defined parameter, an end of a buffer, or (without a name) zero."""

    name: str
    end: str = ""
    """``oldest`` or ``youngest``, of a buffer."""
    bound: str = ""
    times: int = 1
    """1, or -1 for the negation of a variable."""

    def compute_column(self, sample: StateSample) -> Column:
        if not self.name:
            return np.zeros(sample.size, dtype=np.int64)
        if not self.end:
            return self.times * sample.get_column(self.name)
        buffer, delta = sample.state[self.name], sample.parameters[self.bound]
        oldest = self.end == "oldest"
        ages = np.full(sample.size, -1 if oldest else delta + 1, dtype=np.int64)
        for age in range(delta + 1) if oldest else range(delta, -1, -1):
            ages = np.where(sample.to_column(buffer.has(age)), age, ages)
        return ages

    def mark_empty(self, column: Column, sample: StateSample) -> Column:
        """Mark the states in which the buffer is empty."""
        return column < 0 if self.end == "oldest" else column > sample.parameters[self.bound]

    def to_linear_sum(self) -> LinearSum:
        return LinearSum.from_coefficients({self.name: self.times} if self.name else {})


def _list_quantities(system: System, with_sums: bool) -> list[_ComparedQuantity]:
    quantities = [_ComparedQuantity("")]
    signs = (1, -1) if with_sums else (1,)
    variables = [v.name for v in system.variables if isinstance(v.sort, Integers)]
    quantities += [_ComparedQuantity(name, times=sign) for name in variables for sign in signs]
    quantities += [_ComparedQuantity(p.name) for p in system.parameters if isinstance(p.value, Expression)]
    for variable in system.variables:
        if isinstance(variable.sort, Ages):
            quantities += [_ComparedQuantity(variable.name, end, variable.sort.bound) for end in ("oldest", "youngest")]
    return quantities


def _find_bounds(
    system: System,
    samples: Sequence[StateSample],
    met: Sequence[tuple[ClausePremise, Sequence[Column]]],
    with_sums: bool,
) -> Iterator[Clause]:
    """Bound the excess of one quantity over another by the lowest planes over the parameters."""
    parameters = system.list_arbitrary()
    points = np.array([[sample.parameters[name] for name in parameters] for sample in samples])
    planes = np.array(list(product(_SLOPES, repeat=len(parameters))), dtype=np.int64)
    heights = points @ planes.T  # of each plane at each sample
    quantities = _list_quantities(system, with_sums)
    columns = {quantity: [quantity.compute_column(sample) for sample in samples] for quantity in quantities}
    for left, right in product(quantities, repeat=2):
        if (left.name, left.end) == (right.name, right.end) or (left.end and right.end):
            continue
        known: dict[ClausePremise, Any] = {}
        for premise, mask in met:
            most = _compute_excess(left, right, columns, samples, mask)
            if most is None:
                continue
            met_in = most > _UNMET
            if not met_in.any():
                continue
            constants = (most[met_in, None] - heights[met_in]).max(axis=0)
            weaker = [known[other] for other in _enumerate_weaker_premises(premise) if other in known]
            known[premise] = constants
            least = np.minimum.reduce(weaker) if weaker else None
            for index in _find_lowest_planes(heights[met_in] + constants):
                if least is None or constants[index] < least[index]:
                    plane = dict(zip(parameters, planes[index].tolist(), strict=True))
                    yield Clause(
                        premise, _build_at_most(left, right, LinearSum.from_coefficients(plane, int(constants[index])))
                    )


def _compute_excess(
    left: _ComparedQuantity,
    right: _ComparedQuantity,
    columns: dict[_ComparedQuantity, list[Column]],
    samples: Sequence[StateSample],
    mask: Sequence[Column],
) -> Any:
    """Compute the largest excess of the left quantity over the right one under the premise, in each sample.

    Return ``None`` if the comparison implies that a message is in transit in a state in which there is none.
    """
    excess = np.full(len(samples), _UNMET, dtype=np.int64)
    for index, (sample, selected) in enumerate(zip(samples, mask, strict=True)):
        for quantity, claims_some in ((left, left.end == "youngest"), (right, right.end == "oldest")):
            if quantity.end:
                missing = quantity.mark_empty(columns[quantity][index], sample)
                if claims_some and (missing & selected).any():
                    return None
                selected = selected & ~missing
        if selected.any():
            excess[index] = (columns[left][index][selected] - columns[right][index][selected]).max()
    return excess


def _enumerate_weaker_premises(premise: ClausePremise) -> Iterator[ClausePremise]:
    """Enumerate the proper subsets of the conditions."""
    for kept in product((False, True), repeat=len(premise)):
        if not all(kept):
            yield tuple(condition for condition, keep in zip(premise, kept, strict=True) if keep)


def _find_lowest_planes(heights: Any) -> Iterator[int]:
    """Enumerate the planes below which no other one lies; of equal planes, only the first."""
    for index in range(heights.shape[1]):
        below = (heights <= heights[:, index : index + 1]).all(axis=0)
        equal = (heights == heights[:, index : index + 1]).all(axis=0)
        if (below == equal).all() and equal.argmax() == index:
            yield index


def _build_at_most(left: _ComparedQuantity, right: _ComparedQuantity, bound: LinearSum) -> Condition:
    """Write ``left - right <= bound`` as a condition."""
    if right.end == "oldest":
        return InTransit(right.name, right.bound, True, low=left.to_linear_sum().subtract(bound))
    if left.end == "youngest":
        return InTransit(left.name, left.bound, True, high=right.to_linear_sum().add(bound))
    if left.end == "oldest":
        return InTransit(left.name, left.bound, False, low=right.to_linear_sum().add(bound).add_constant(1))
    if right.end == "youngest":
        return InTransit(right.name, right.bound, False, high=left.to_linear_sum().subtract(bound).add_constant(-1))
    if left.times < 0 or right.times < 0:
        return AtMost.from_excess(left.to_linear_sum().subtract(right.to_linear_sum()).subtract(bound))
    return AtMost(left.to_linear_sum(), right.to_linear_sum().add(bound))
