"""Reachable states of small instances, as columns of numbers to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdverify.engines.batch import truths
from fdverify.engines.explore import explored
from fdverify.engines.parameters import admissible
from fdverify.logic import Truth
from fdverify.models.system import Property, State, System
from fdverify.traces.run import Run, confirmed
from fdverify.verdict import silent

Column = NDArray[Any]
_MOST_ROUNDS = 60
_MOST_STATES = 20_000
_WIDEST_EDGE = 64


@dataclass(frozen=True)
class Sample:
    """The states of one instance that are reached first: a batch of them, of this size."""

    parameters: Mapping[str, int]
    state: State
    size: int
    violation: Run | None
    """A replayed run that breaks the claim that was explored with, if one was met."""

    def column(self, values: Truth) -> Column:
        """Truth values, one for each state."""
        return truths(values, self.size)

    def number(self, name: str) -> Column:
        return np.broadcast_to(np.asarray(self.state[name], dtype=np.int64), (self.size,))


def sample(system: System, claim: Property, most: int | None = None) -> Sample:
    """Explore an instance, without caps: what is learned may tell apart any two values.

    Of more than ``most`` states some are kept, always the same ones.
    """
    exploration = explored(system, claim, {}, False, _MOST_ROUNDS, silent, _MOST_STATES)
    end = exploration.violation
    columns = [np.concatenate(parts) for parts in zip(*exploration.levels, strict=True)]
    if most is not None and len(columns[0]) > most:
        kept = np.sort(np.random.default_rng(0).choice(len(columns[0]), most, replace=False))
        columns = [column[kept] for column in columns]
    return Sample(
        system.fixed_values(),
        exploration.batches.state(columns),
        len(columns[0]),
        None if end is None else confirmed(system, claim, exploration.trace_to(end)),
    )


def to_check_with(system: System) -> list[System]:
    """A few instances somewhat larger than the small ones: what was learned by accident fails in one of them."""
    small = {p.name: p.small_values() for p in system.parameters if p.value is None}
    least, most = ({name: pick(values) for name, values in small.items()} for pick in (min, max))
    picked = [{**least, name: most[name] + 3} for name in small] + [{**most, name: most[name] + 2} for name in small]
    return admissible(system, picked)


def at_the_edge(system: System) -> list[System]:
    """Instances in which a parameter has the least value that the assumptions allow, where others are small."""
    arbitrary = [p for p in system.parameters if p.value is None]
    if not system.assumptions:
        return []
    found: list[System] = []
    for parameter in arbitrary:
        others = [p for p in arbitrary if p is not parameter]
        for picked in product(*(p.small_values() for p in others)):
            values = {p.name: value for p, value in zip(others, picked, strict=True)}
            tried = range(parameter.least, parameter.least + _WIDEST_EDGE)
            found += admissible(system, ({**values, parameter.name: value} for value in tried))[:1]
    return found
