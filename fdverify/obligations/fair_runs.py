"""Fair runs: search small instances for a loop in which every fairness condition holds.

An argument from fairness is vacuous if a condition can hold only finitely often.  An instance whose states were all
visited has a fair run if and only if it has such a loop.  If an instance has too many states, only some are visited.  A
loop among them shows that there is a fair run; the absence of one shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fdverify.engines import exact_ages
from fdverify.engines.caps import Caps, build_constant_cap, can_see_past_caps, check_phases_ignore_caps
from fdverify.engines.explore import Exploration, explore_with_caps
from fdverify.engines.live import EVERY_STATE, confirm_lasso
from fdverify.engines.state_graph import StateGraph
from fdverify.errors import UsageError
from fdverify.liveness.argument import Argument, FairRuns
from fdverify.logic import Not
from fdverify.models.system import Property, System
from fdverify.obligations.inductive import Invariant
from fdverify.runs.run import Run
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import ignore_progress

_MOST_STATES = (500, 8_000)
_MOST_STATES_ALTOGETHER = 40_000
_HORIZONS = (0, 16, 64)


@dataclass(frozen=True)
class FairRunSearch:
    """The outcome of the search: a fair run, or else the first instance that provably has none, if any."""

    run: Run | None = None
    without: System | None = None


def find_fair_run(fair: FairRuns, fairness: Sequence[Property], instances: Iterable[System]) -> FairRunSearch:
    """Search the instances in their order for a fair loop, at first among few states: most have one there."""
    without, left = None, _MOST_STATES_ALTOGETHER
    waiting = instances
    for most in _MOST_STATES:
        incomplete = []
        for instance in waiting:
            system = fair.plain(instance)
            caps = _choose_caps(system, (fair.within, *fairness))
            exploration = explore_with_caps(system, EVERY_STATE, caps, False, None, ignore_progress, most)
            graph = StateGraph(exploration)
            run = _find_lasso(exploration, graph, fair.within, fairness)
            if run is not None:
                return FairRunSearch(run)
            left -= exploration.states
            if left <= 0:
                return FairRunSearch(None, without)
            if not exploration.complete:
                incomplete.append(instance)
            elif without is None and graph.find_states(fair.within, True):
                without = instance
        waiting = incomplete
    return FairRunSearch(None, without)


def _find_lasso(
    exploration: Exploration, graph: StateGraph, within: Property, fairness: Sequence[Property]
) -> Run | None:
    """Find a fair lasso whose loop starts in a state in which ``within`` holds, and confirm it by a replay."""
    stem, loop = graph.find_lasso(
        graph.find_states(within, True), [graph.find_states(condition, True) for condition in fairness]
    )
    if not loop:
        return None
    never = Property(within.name, lambda state: Not(within.holds(state)), within.meaning)
    return confirm_lasso(exploration.system, (never, *fairness), exploration.caps, graph.build_run(stem, loop))


def list_excluded_conditions(invariant: Invariant, within: Property) -> list[str]:
    """Return the fairness conditions that cannot hold in the invariant while ``within`` holds."""
    assert isinstance(invariant.goal, Argument), "only arguments rest on fairness"
    excluded = []
    for condition in invariant.goal.fairness:
        unrolling = Unrolling(invariant.system, anywhere=True)
        state = unrolling.states[0]
        claims = [lift_truth(claim.holds(state)) for claim in (*invariant.list_hypotheses(), within, condition)]
        if exact_ages.ask_exactly(unrolling, FreshSolver(), *claims).status == "unsat":
            excluded.append(condition.name)
    return excluded


def _choose_caps(system: System, claims: Sequence[Property]) -> Caps:
    """Return caps past which no claim sees; none if there are no such caps among those tried."""
    declared: Caps = {v.name: v.cap for v in system.variables if v.cap is not None}
    clocks = [v.name for v in system.variables if v.clock]
    for horizon in _HORIZONS if clocks else _HORIZONS[:1]:
        caps = {**declared, **{name: build_constant_cap(horizon) for name in clocks}}
        try:
            check_phases_ignore_caps(system, caps)
        except UsageError:
            return {}
        if not any(can_see_past_caps(system, claim, caps, {}) for claim in claims):
            return caps
    return {}
