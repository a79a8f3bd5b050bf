"""Is a claim false in a reachable state?  Looked for by the explorer, at fixed parameters and within limits."""

from __future__ import annotations

from dataclasses import dataclass

from fdverify.engines.explore import explored
from fdverify.models.system import Property, System
from fdverify.traces.run import Run, confirmed
from fdverify.verdict import silent

_MOST_ROUNDS = 150
_MOST_STATES = 40_000


@dataclass(frozen=True)
class Reached:
    """A run to a state in which the claim is false; or none: in no run at all (``complete``), or within ``rounds``."""

    run: Run | None
    complete: bool
    rounds: int


def reach(system: System, claim: Property) -> Reached:
    # Without caps: a claim may tell apart any two values.
    exploration = explored(system, claim, {}, False, _MOST_ROUNDS, silent, _MOST_STATES)
    if exploration.violation is not None:
        run = confirmed(system, claim, exploration.trace_to(exploration.violation))
        return Reached(run, complete=False, rounds=len(run.rounds))
    return Reached(None, exploration.complete, len(exploration.levels) - 1)
