"""Samples of reachable states of small instances, as columns of numbers."""

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
    """A batch of states of one instance, those that are reached first."""

    parameters: Mapping[str, int]
    state: State
    size: int
    violation: Run | None
    """A replayed run that violates the explored claim, if there is one."""

    def column(self, values: Truth) -> Column:
        """Return truth values as a column with one entry for each state."""
        return truths(values, self.size)

    def number(self, name: str) -> Column:
        return np.broadcast_to(np.asarray(self.state[name], dtype=np.int64), (self.size,))


def sample(system: System, claim: Property, most: int | None = None) -> Sample:
    """Sample the reachable states of an instance, without caps, since clauses may distinguish any two values.

    Of more than ``most`` states a random choice is kept, with a fixed seed.
    """
    exploration = explored(system, claim, {}, False, _MOST_ROUNDS, silent, _MOST_STATES)
    violation = exploration.violation
    columns = [np.concatenate(parts) for parts in zip(*exploration.levels, strict=True)]
    if most is not None and len(columns[0]) > most:
        kept = np.sort(np.random.default_rng(0).choice(len(columns[0]), most, replace=False))
        columns = [column[kept] for column in columns]
    return Sample(
        system.fixed_values(),
        exploration.batches.state(columns),
        len(columns[0]),
        None if violation is None else confirmed(system, claim, exploration.trace_to(violation)),
    )


def to_check_with(system: System) -> list[System]:
    """List a few instances larger than the small ones, in which clauses that hold only by accident fail."""
    small = {p.name: p.small_values() for p in system.parameters if p.value is None}
    least, most = ({name: pick(values) for name, values in small.items()} for pick in (min, max))
    picked = [{**least, name: most[name] + 3} for name in small] + [{**most, name: most[name] + 2} for name in small]
    return admissible(system, picked)


def at_the_edge(system: System) -> list[System]:
    """List instances in which one parameter is as small as the assumptions allow, and the others are small."""
    arbitrary = [p for p in system.parameters if p.value is None]
    if not system.assumptions:
        return []
    instances: list[System] = []
    for parameter in arbitrary:
        others = [p for p in arbitrary if p is not parameter]
        for picked in product(*(p.small_values() for p in others)):
            values = {p.name: value for p, value in zip(others, picked, strict=True)}
            candidates = range(parameter.least, parameter.least + _WIDEST_EDGE)
            instances += admissible(system, ({**values, parameter.name: value} for value in candidates))[:1]
    return instances
