"""Samples of reachable states of small instances, as columns of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdverify.engines.batch import build_truth_column
from fdverify.engines.explore import explore_with_caps
from fdverify.engines.instances import list_admissible_instances
from fdverify.logic import Truth
from fdverify.models.system import Property, State, System
from fdverify.runs.run import Run, confirm_violation
from fdverify.verdict import ignore_progress

Column = NDArray[Any]
_MOST_ROUNDS = 60
_MOST_STATES = 20_000
_WIDEST_EDGE = 64


@dataclass(frozen=True)
class StateSample:
    """A batch of states of one instance, those that are reached first."""

    parameters: Mapping[str, int]
    state: State
    size: int
    violation: Run | None
    """A replayed run that violates the explored claim, if there is one."""

    def to_column(self, values: Truth) -> Column:
        """Return truth values as a column with one entry for each state."""
        return build_truth_column(values, self.size)

    def get_column(self, name: str) -> Column:
        return np.broadcast_to(np.asarray(self.state[name], dtype=np.int64), (self.size,))


def sample_states(system: System, claim: Property, most: int | None = None) -> StateSample:
    """Sample the reachable states of an instance, without caps, since clauses may distinguish any two values.

    Of more than ``most`` states a random choice is kept, with a fixed seed.
    """
    exploration = explore_with_caps(system, claim, {}, False, _MOST_ROUNDS, ignore_progress, _MOST_STATES)
    violation = exploration.violation
    columns = exploration.get_all_states()
    if most is not None and len(columns[0]) > most:
        kept = np.sort(np.random.default_rng(0).choice(len(columns[0]), most, replace=False))
        columns = [column[kept] for column in columns]
    return StateSample(
        system.compute_fixed_parameters(),
        exploration.batches.restore_state(columns),
        len(columns[0]),
        None if violation is None else confirm_violation(system, claim, exploration.reconstruct_run(violation)),
    )


def list_validation_instances(system: System) -> list[System]:
    """List a few instances larger than the small ones, in which clauses that hold only by accident fail."""
    small = {p.name: p.list_small_values() for p in system.parameters if p.value is None}
    least, most = ({name: pick(values) for name, values in small.items()} for pick in (min, max))
    picked = [{**least, name: most[name] + 3} for name in small] + [{**most, name: most[name] + 2} for name in small]
    return list_admissible_instances(system, picked)


def list_edge_instances(system: System) -> list[System]:
    """List instances in which one parameter is as small as the assumptions allow, and the others are small."""
    arbitrary = [p for p in system.parameters if p.value is None]
    if not system.assumptions:
        return []
    instances: list[System] = []
    for parameter in arbitrary:
        others = [p for p in arbitrary if p is not parameter]
        for picked in product(*(p.list_small_values() for p in others)):
            values = {p.name: value for p, value in zip(others, picked, strict=True)}
            candidates = range(parameter.least, parameter.least + _WIDEST_EDGE)
            instances += list_admissible_instances(system, ({**values, parameter.name: value} for value in candidates))[
                :1
            ]
    return instances
