"""The number of phases that suffices to keep sets of locations inhabited.

docs/explanation/threshold-search.md has the proof.
"""

from __future__ import annotations

from math import prod

from fdverify.threshold.runs.run_problem import RunProblem

_MOST_PHASES = 32
TOO_MANY_PHASES = f"to keep several sets of locations inhabited may take more than {_MOST_PHASES} phases"


def has_enough_phases(problem: RunProblem, phases: int) -> bool:
    """Return whether every stretch that keeps its sets inhabited can be divided into this many phases."""
    sets = problem.inhabited_sets
    if len(sets) == 1:
        return phases >= 3
    # A phase for each choice of a location from each set, and a phase for each step between two choices.
    return not problem.counts_on_cycles and phases >= 2 * prod(len(locations) for locations in sets) - 1


def exceeds_phase_limit(phases: int) -> bool:
    """Return whether there are more phases than a solver can handle."""
    return phases > _MOST_PHASES
