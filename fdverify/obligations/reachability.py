"""Reachability: search for a run that violates a claim, or that ends where a condition holds, within limits.

A violation is sought at fixed parameters, a condition at arbitrary ones, by the solver.  For a violation the explorer
searches, unless messages may have so many ages that there are too many sets of them; then the solver does.
"""

from __future__ import annotations

from collections.abc import Callable

from fdverify.engines import exact_ages
from fdverify.engines.bmc import BoundedSearch, bmc
from fdverify.engines.explore import explore_with_caps
from fdverify.logic import Not, Truth
from fdverify.models.system import Property, State, StepProperty, System
from fdverify.obligations.inductive import Invariant, evaluate_claim_at_end
from fdverify.obligations.obligation import Reachability
from fdverify.runs.run import Run, confirm_violation, replay_run
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import Verdict, ignore_progress

_MOST_ROUNDS = 150
_MOST_STATES = 40_000
_LARGEST_EXPLORED_DELTA = 7
_MOST_SEARCHED_ROUNDS = 30
_MOST_ROUNDS_TO_CONDITION = 12


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
    return Reachability(None, exploration.complete, len(exploration.level_sizes) - 1)


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


def find_run_to(invariant: Invariant, holds: Callable[[State], Truth]) -> Run | None:
    """Find a short run whose replay ends where the condition holds; skip the search if the invariant excludes it."""
    anywhere = Unrolling(invariant.system, anywhere=True)
    state = anywhere.states[0]
    inside = [lift_truth(conjunct.holds(state)) for conjunct in invariant.list_hypotheses()]
    if exact_ages.ask_exactly(anywhere, FreshSolver(), *inside, lift_truth(holds(state))).status == "unsat":
        return None
    search = BoundedSearch(invariant.system)
    for length in range(_MOST_ROUNDS_TO_CONDITION + 1):
        if length > 0:
            search.extend()
        wanted = holds(search.state)
        answer = search.ask(wanted)
        if answer.status == "unknown":
            return None
        if answer.status == "sat":
            run = search.find_smallest_run(wanted, answer)
            return run if holds(replay_run(invariant.system, run).last) else None
        search.exclude(wanted)
    return None
