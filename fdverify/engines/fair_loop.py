"""That some run is fair: a loop in which every fairness condition holds, looked for in small instances.

An argument from fairness is about nothing if a condition can hold only finitely often.  An instance whose states were
all visited has a fair run if and only if it has such a loop.  Of one with too many states only a part is visited: a
loop in it shows that there is a fair run, and that there is none in it shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fdverify.engines import exact
from fdverify.engines.caps import Caps, check_behaviour, sees_past
from fdverify.engines.explore import Exploration, explored
from fdverify.engines.inductive import Invariant
from fdverify.engines.live import EVERY_STATE, confirmed_lasso
from fdverify.engines.state_graph import StateGraph
from fdverify.errors import UsageError
from fdverify.liveness.argument import Argument, FairRuns
from fdverify.logic import Not, Number
from fdverify.models.system import Property, State, System
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run
from fdverify.verdict import silent

_MOST_STATES = (500, 8_000)
_MOST_STATES_ALTOGETHER = 40_000
_HORIZONS = (0, 16, 64)


@dataclass(frozen=True)
class FairSearch:
    """A fair run with its instance, if one was found; else the first instance that surely has none, if there is one."""

    run: Run | None = None
    without: System | None = None


def look_for_fair_run(fair: FairRuns, fairness: Sequence[Property], instances: Iterable[System]) -> FairSearch:
    """Search the instances for a fair loop, in their order, until there is one; most have one among few states."""
    without, left = None, _MOST_STATES_ALTOGETHER
    waiting = instances
    for most in _MOST_STATES:
        cut = []
        for instance in waiting:
            system = fair.plain(instance)
            caps = _caps(system, (fair.within, *fairness))
            exploration = explored(system, EVERY_STATE, caps, False, None, silent, most)
            graph = StateGraph(exploration)
            found = _lasso(exploration, graph, fair.within, fairness)
            if found is not None:
                return FairSearch(found)
            left -= exploration.states
            if left <= 0:
                return FairSearch(None, without)
            if not exploration.complete:
                cut.append(instance)
            elif without is None and graph.where(fair.within, True):
                without = instance
        waiting = cut
    return FairSearch(None, without)


def _lasso(exploration: Exploration, graph: StateGraph, within: Property, fairness: Sequence[Property]) -> Run | None:
    """A run that comes back to a state in which ``within`` holds, through all that is fair, once it was replayed."""
    way, loop = graph.lasso(graph.where(within, True), [graph.where(each, True) for each in fairness])
    if not loop:
        return None
    never = Property(within.name, lambda state: Not(within.holds(state)), within.meaning)
    return confirmed_lasso(exploration.system, (never, *fairness), exploration.caps, graph.run(way, loop))


def never_fair(invariant: Invariant, within: Property) -> list[str]:
    """The fairness conditions that the invariant excludes."""
    assert isinstance(invariant.goal, Argument), "only arguments rest on fairness"
    found = []
    for condition in invariant.goal.fairness:
        unrolling = Unrolling(invariant.system, anywhere=True)
        state = unrolling.states[0]
        claims = [truth(each.holds(state)) for each in (*invariant.hypotheses(), within, condition)]
        if exact.ask(unrolling, FreshSolver(), *claims).status == "unsat":
            found.append(condition.name)
    return found


def _caps(system: System, claims: Sequence[Property]) -> Caps:
    """How states may be stored so that no claim sees it; as they are, if it is not known how."""
    declared: Caps = {v.name: v.cap for v in system.variables if v.cap is not None}
    clocks = [v.name for v in system.variables if v.clock]
    for horizon in _HORIZONS if clocks else _HORIZONS[:1]:
        caps = {**declared, **{name: _constant(horizon) for name in clocks}}
        try:
            check_behaviour(system, caps)
        except UsageError:
            return {}
        if not any(sees_past(system, claim, caps, {}) for claim in claims):
            return caps
    return {}


def _constant(number: int) -> Callable[[State], Number]:
    return lambda state: number
