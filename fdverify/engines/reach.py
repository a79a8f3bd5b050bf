"""Is a claim false in a reachable state?  Looked for by the explorer, at fixed parameters and within limits."""

from __future__ import annotations

from fdverify.engines.explore import explored
from fdverify.engines.inductive import Reached
from fdverify.models.system import Property, System
from fdverify.traces.run import confirmed
from fdverify.verdict import silent

_MOST_ROUNDS = 150
_MOST_STATES = 40_000


def reach(system: System, claim: Property) -> Reached:
    # Without caps: a claim may tell apart any two values.
    exploration = explored(system, claim, {}, False, _MOST_ROUNDS, silent, _MOST_STATES)
    if exploration.violation is not None:
        run = confirmed(system, claim, exploration.trace_to(exploration.violation))
        return Reached(run, complete=False, rounds=len(run.rounds))
    return Reached(None, exploration.complete, len(exploration.levels) - 1)
