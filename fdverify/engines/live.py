"""Liveness for fixed parameters: in every fair run, is the claim true from some time on and for good?

The reachable states are finitely many, so a run that breaks it for ever comes back to a state: it is a lasso, a way and
then a loop.  The loop must be fair: what the system declares to happen again and again does happen in it.  Where the
states are not finitely many, a system may declare a growing loop for the claim; then that is verified instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np

from fdverify.engines.batch import step_back, truths
from fdverify.engines.caps import Caps, capped, sees_past
from fdverify.engines.explore import Exploration, caps_for, explored
from fdverify.engines.growing import go_round
from fdverify.engines.machine import check_compiles
from fdverify.engines.state_table import Rows
from fdverify.errors import InternalError, UsageError
from fdverify.models.interpret import observe
from fdverify.models.system import Property, System, always
from fdverify.traces.run import Run, replay, rounds
from fdverify.verdict import Obligation, Report, Result, Verdict, silent

_EVERY_STATE = Property("reached", always, "every state is visited")


def live(system: System, claim: Property, unfair: bool = False, report: Report = silent) -> Result:
    """Search for a fair run (``unfair``: for any) in which ``claim`` is false again and again."""
    start = perf_counter()
    system.fixed_values()
    for growing in system.growing:
        if growing.breaks == claim.name:
            return go_round(system, claim, growing)
    fairness = () if unfair else system.fairness
    caps = _caps(system, (claim, *fairness))
    exploration = explored(system, _EVERY_STATE, caps, subrounds=False, depth=None, report=report)
    statistics = {"states": exploration.states, "depth": exploration.depth}

    def result(verdict: Verdict, detail: str, run: Run | None = None) -> Result:
        obligation = Obligation(claim.name, "liveness", verdict, perf_counter() - start)
        return Result(verdict, detail, statistics, (obligation,), run)

    if exploration.dead_end is not None:
        run = exploration.run_to_dead_end(exploration.dead_end)
        return result(Verdict.VACUOUS, f"a dead end: no step is possible after {rounds(len(run.rounds))}", run)
    graph = _Graph(exploration)
    fair = [graph.where(each, True) for each in fairness]
    way, loop = graph.lasso(graph.where(claim, False), fair)
    if not loop and not graph.lasso(graph.where(_EVERY_STATE, True), fair)[1]:
        return result(Verdict.VACUOUS, "no run is fair, so nothing is said of any")
    if not loop:
        kind = "run" if unfair else "fair run"
        return result(Verdict.PROVED, f"in every {kind}, {claim.name} holds from some time on")
    run = _confirmed(system, (claim, *fairness), caps, graph.run(way, loop))
    statistics["loop"] = len(loop) - 1
    again = f"a loop of {rounds(len(loop) - 1)}, entered after {rounds(len(way) - 1)}, can go on for ever"
    return result(Verdict.VIOLATED, f"{claim.name} is violated again and again: {again}", run)


def _caps(system: System, claims: Sequence[Property]) -> Caps:
    """How states are stored, which no claim may see."""
    caps = caps_for(system, claims[0], horizon=0, depth=None)
    for claim in claims:
        check_compiles(system, claim)
        if caps and sees_past(system, claim, caps, {}):
            raise UsageError(f"{claim.name} reads {' or '.join(caps)}, of which not all values are stored")
    return caps


class _Graph:
    """The reachable states, numbered from the initial one, and the rounds between them."""

    def __init__(self, exploration: Exploration) -> None:
        self._exploration = exploration
        self._states: Rows = [np.concatenate(columns) for columns in zip(*exploration.levels, strict=True)]
        numbers = {key: number for number, key in enumerate(_keys(self._states))}
        self._rounds: Any = nx.DiGraph()
        self._rounds.add_nodes_from(range(len(numbers)))
        first = 0
        for level in range(len(exploration.levels)):
            for start, rows in exploration.batches_of(level):
                expansions = exploration.expand(level, rows)
                origin = expansions[-1].origin
                for expansion in expansions[-2::-1]:
                    origin = expansion.origin[origin]
                ends = [numbers[key] for key in _keys(exploration.capped(expansions[-1].rows))]
                self._rounds.add_edges_from(zip((origin + first + start).tolist(), ends, strict=True))
            first += len(exploration.levels[level][0])

    def where(self, claim: Property, value: bool) -> set[int]:
        """The states in which a claim has this truth value."""
        holds = truths(claim.holds(self._exploration.batches.state(self._states)), len(self._states[0]))
        return set(np.flatnonzero(holds == value).tolist())

    def lasso(self, bad: set[int], fair: Sequence[set[int]]) -> tuple[list[int], list[int]]:
        """A way from the initial state to a bad one, and from there a loop through all that is fair; empty if none."""
        for component in sorted(nx.strongly_connected_components(self._rounds), key=min):
            start = min(component & bad, default=None)
            turns = len(component) > 1 or any(self._rounds.has_edge(state, state) for state in component)
            if start is None or not turns or not all(component & each for each in fair):
                continue
            inside = self._rounds.subgraph(component)
            loop = [start]
            for each in fair:
                if not each & set(loop):
                    loop += _shortest(inside, loop[-1], each)
            return nx.shortest_path(self._rounds, 0, start), loop + _shortest(inside, loop[-1], {start})
        return [], []

    def run(self, way: Sequence[int], loop: Sequence[int]) -> Run:
        made = tuple(self._choices(before, after) for before, after in (*pairwise(way), *pairwise(loop)))
        return Run(self._exploration.system.fixed_values(), made, loop=len(way) - 1)

    def _choices(self, before: int, after: int) -> dict[str, Any]:
        expansions = self._exploration.expand(0, [column[[before]] for column in self._states])
        ends = self._exploration.capped(expansions[-1].rows)
        return step_back(expansions, ends, [column[after] for column in self._states])[0]


def _keys(rows: Rows) -> Any:
    return zip(*(column.tolist() for column in rows), strict=True)


def _shortest(graph: Any, start: int, targets: set[int]) -> list[int]:
    """A shortest way of at least one round to one of the targets, without its start."""
    before: dict[int, int] = {}
    waiting = deque([start])
    while True:
        state = waiting.popleft()
        for after in sorted(graph.successors(state)):
            if after in before:
                continue
            before[after] = state
            waiting.append(after)
            if after in targets:
                way = [after]
                while before[way[-1]] != start:
                    way.append(before[way[-1]])
                return way[::-1]


def _confirmed(system: System, claims: Sequence[Property], caps: Caps, run: Run) -> Run:
    """The run, once its replay has gone round the loop twice and met a violation and all that is fair each time."""
    assert run.loop is not None, "a lasso has a loop"
    loop = run.rounds[run.loop :]
    twice = Run(run.parameters, (*run.rounds, *loop))
    trace = replay(system, twice)
    states = [trace.initial, *(traced.after for traced in trace.rounds)]
    entered = [states[run.loop + turn * len(loop)] for turn in range(3)]
    if len({str(observe(trace.system, capped(state, caps))) for state in entered}) != 1:
        raise InternalError("the loop that was found does not come back when it is replayed")
    claim, *fairness = claims
    for turn in range(2):
        within = states[run.loop + turn * len(loop) :][: len(loop)]
        if all(claim.holds(state) for state in within):
            raise InternalError(f"the loop that was found does not violate {claim.name} when it is replayed")
        for each in fairness:
            if not any(each.holds(state) for state in within):
                raise InternalError(f"the loop that was found is not fair when it is replayed: {each.name}")
    return run
