"""The reachable states as a graph, in which a run that goes on for ever is a lasso: a way, and then a loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from fdverify.engines.batch import step_back, truths
from fdverify.engines.explore import Exploration
from fdverify.engines.state_table import Rows
from fdverify.models.system import Property
from fdverify.traces.run import Run


class StateGraph:
    """The states that were visited, numbered from the initial one, and the rounds between them."""

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
                ends = [numbers.get(key) for key in _keys(exploration.capped(expansions[-1].rows))]
                edges = zip((origin + first + start).tolist(), ends, strict=True)
                # Where the search was cut short, some rounds lead to states that were not visited.
                self._rounds.add_edges_from((before, after) for before, after in edges if after is not None)
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
