"""Reachability: search for a run that violates a claim, at fixed parameters and within limits.

The explorer searches, unless messages may have so many ages that there are too many sets of them; then the solver does.
"""

from __future__ import annotations

from fdverify.engines.bmc import Search, bmc
from fdverify.engines.explore import explored
from fdverify.engines.inductive import Reached, holds_at_end
from fdverify.logic import Not
from fdverify.models.system import Property, StepProperty, System
from fdverify.traces.run import confirmed
from fdverify.verdict import Verdict, silent

_MOST_ROUNDS = 150
_MOST_STATES = 40_000
_LARGEST_EXPLORED_DELTA = 7
_MOST_SEARCHED_ROUNDS = 30


def reach(system: System, claim: Property, most_rounds: int = _MOST_ROUNDS) -> Reached:
    """Search for a run to a state in which the claim is false."""
    values = system.fixed_values()
    if any(values[bound] > _LARGEST_EXPLORED_DELTA for bound in system.age_bounds()):
        return _searched(system, claim)
    # Without caps: a claim may distinguish any two values.
    exploration = explored(system, claim, {}, False, most_rounds, silent, _MOST_STATES)
    if exploration.violation is not None:
        run = confirmed(system, claim, exploration.trace_to(exploration.violation))
        return Reached(run, complete=False, rounds=len(run.rounds))
    return Reached(None, exploration.complete, len(exploration.levels) - 1)


def _searched(system: System, claim: Property) -> Reached:
    result = bmc(system, claim, _MOST_SEARCHED_ROUNDS)
    depth = result.statistics["depth"]
    return Reached(result.run if result.verdict is Verdict.VIOLATED else None, complete=False, rounds=depth)


def reach_step(system: System, claim: StepProperty) -> Reached:
    """Search for a run whose last round violates the claim, by the solver."""
    search = Search(system)
    for length in range(1, _MOST_SEARCHED_ROUNDS + 1):
        search.extend()
        bad = Not(holds_at_end(search.unrolling, claim))
        answer = search.ask(bad)
        if answer.status == "unknown":
            return Reached(None, complete=False, rounds=length - 1)
        if answer.status == "sat":
            return Reached(confirmed(system, claim, search.run(bad, answer)), complete=False, rounds=length)
    return Reached(None, complete=False, rounds=_MOST_SEARCHED_ROUNDS)
