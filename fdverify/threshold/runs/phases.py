"""In how many phases sets of locations can be kept inhabited (docs/threshold.md tells why)."""

from __future__ import annotations

from math import prod

from fdverify.threshold.runs.problem import Problem

_MOST = 32


def enough(problem: Problem, phases: int) -> bool:
    """Whether a stretch that keeps its sets inhabited can do so in as many phases."""
    sets = problem.inhabited
    if len(sets) == 1:
        return phases >= 3
    return not problem.counts_on_cycles and phases >= prod(len(some) for some in sets)


def too_many(phases: int) -> bool:
    """Whether it is hopeless to ask a solver."""
    return phases > _MOST
