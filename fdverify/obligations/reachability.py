"""Reachability: search for a run that violates a claim, at fixed parameters and within limits.

The explorer searches, unless messages may have so many ages that there are too many sets of them; then the solver does.
"""

from __future__ import annotations

from fdverify.engines.bmc import BoundedSearch, bmc
from fdverify.engines.explore import explore_with_caps
from fdverify.logic import Not
from fdverify.models.system import Property, StepProperty, System
from fdverify.obligations.inductive import Reachability, evaluate_claim_at_end
from fdverify.runs.run import confirm_violation
from fdverify.verdict import Verdict, ignore_progress

_MOST_ROUNDS = 150
_MOST_STATES = 40_000
_LARGEST_EXPLORED_DELTA = 7
_MOST_SEARCHED_ROUNDS = 30


def search_violation(system: System, claim: Property, most_rounds: int = _MOST_ROUNDS) -> Reachability:
    """Search for a run to a state in which the claim is false."""
    values = system.compute_fixed_parameters()
    if any(values[bound] > _LARGEST_EXPLORED_DELTA for bound in system.list_age_bounds()):
        return _search_with_solver(system, claim)
    # Without caps: a claim may distinguish any two values.
    exploration = explore_with_caps(system, claim, {}, False, most_rounds, ignore_progress, _MOST_STATES)
    if exploration.violation is not None:
        run = confirm_violation(system, claim, exploration.reconstruct_run(exploration.violation))
        return Reachability(run, complete=False, rounds=len(run.rounds))
    return Reachability(None, exploration.complete, len(exploration.levels) - 1)


def _search_with_solver(system: System, claim: Property) -> Reachability:
    result = bmc(system, claim, _MOST_SEARCHED_ROUNDS)
    depth = result.statistics["depth"]
    return Reachability(result.run if result.verdict is Verdict.VIOLATED else None, complete=False, rounds=depth)


def search_step_violation(system: System, claim: StepProperty) -> Reachability:
    """Search for a run whose last round violates the claim, by the solver."""
    search = BoundedSearch(system)
    for length in range(1, _MOST_SEARCHED_ROUNDS + 1):
        search.extend()
        bad = Not(evaluate_claim_at_end(search.unrolling, claim))
        answer = search.ask(bad)
        if answer.status == "unknown":
            return Reachability(None, complete=False, rounds=length - 1)
        if answer.status == "sat":
            return Reachability(
                confirm_violation(system, claim, search.find_smallest_run(bad, answer)), complete=False, rounds=length
            )
    return Reachability(None, complete=False, rounds=_MOST_SEARCHED_ROUNDS)
