"""In how many phases sets of locations can be kept inhabited (docs/reference/threshold.md tells why)."""

from __future__ import annotations

from math import prod

from fdverify.threshold.runs.problem import Problem

_MOST = 32
TOO_MANY = f"to keep several sets of locations inhabited may take more than {_MOST} phases"


def enough(problem: Problem, phases: int) -> bool:
    """Whether a stretch that keeps its sets inhabited can do so in as many phases."""
    sets = problem.inhabited
    if len(sets) == 1:
        return phases >= 3
    # One for each choice of a location from each set, and one for each step from a choice to another.
    return not problem.counts_on_cycles and phases >= 2 * prod(len(some) for some in sets) - 1


def too_many(phases: int) -> bool:
    """Whether it is hopeless to ask a solver."""
    return phases > _MOST
