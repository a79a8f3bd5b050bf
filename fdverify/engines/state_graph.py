"""The graph of the reachable states, and the lassos in it: a lasso is an infinite run, a stem and then a loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from fdverify.engines.batch import build_truth_column, find_predecessor
from fdverify.engines.explore import Exploration, compose_origins
from fdverify.engines.packing import Rows
from fdverify.models.system import Property
from fdverify.runs.run import Run


class StateGraph:
    """The graph of the visited states, numbered from the initial state, and of the rounds between them."""

    def __init__(self, exploration: Exploration) -> None:
        self._exploration = exploration
        self._states = exploration.get_all_states()
        numbers = {key: number for number, key in enumerate(_build_keys(self._states))}
        self._rounds: Any = nx.DiGraph()
        self._rounds.add_nodes_from(range(len(numbers)))
        first = 0
        for level, size in enumerate(exploration.level_sizes):
            for start, rows in exploration.split_level(level):
                expansions = exploration.expand(level, rows)
                origin = compose_origins(expansions)
                ends = [numbers.get(key) for key in _build_keys(exploration.cap_rows(expansions[-1].rows))]
                edges = zip((origin + first + start).tolist(), ends, strict=True)
                # If the exploration is incomplete, some rounds lead to states that were not visited.
                self._rounds.add_edges_from((before, after) for before, after in edges if after is not None)
            first += size

    def find_states(self, claim: Property, value: bool) -> set[int]:
        """Return the states in which a claim has this truth value."""
        holds = build_truth_column(self._exploration.batches.evaluate(claim.holds, self._states), len(self._states[0]))
        return set(np.flatnonzero(holds == value).tolist())

    def find_lasso(self, bad: set[int], fair: Sequence[set[int]]) -> tuple[list[int], list[int]]:
        """Find a stem to a bad state and a loop from there through every fair set; both are empty if there is none."""
        for component in sorted(nx.strongly_connected_components(self._rounds), key=min):
            start = min(component & bad, default=None)
            has_cycle = len(component) > 1 or any(self._rounds.has_edge(state, state) for state in component)
            if start is None or not has_cycle or not all(component & states for states in fair):
                continue
            inside = self._rounds.subgraph(component)
            loop = [start]
            for states in fair:
                if not states & set(loop):
                    loop += _find_shortest_path(inside, loop[-1], states)
            return nx.shortest_path(self._rounds, 0, start), loop + _find_shortest_path(inside, loop[-1], {start})
        return [], []

    def build_run(self, stem: Sequence[int], loop: Sequence[int]) -> Run:
        """Return the run along a lasso."""
        choices = tuple(self._find_choices(before, after) for before, after in (*pairwise(stem), *pairwise(loop)))
        return Run(self._exploration.system.compute_fixed_parameters(), choices, loop=len(stem) - 1)

    def _find_choices(self, before: int, after: int) -> dict[str, Any]:
        expansions = self._exploration.expand(0, [column[[before]] for column in self._states])
        ends = self._exploration.cap_rows(expansions[-1].rows)
        return find_predecessor(expansions, ends, [column[after] for column in self._states])[0]


def _build_keys(rows: Rows) -> Any:
    return zip(*(column.tolist() for column in rows), strict=True)


def _find_shortest_path(graph: Any, start: int, targets: set[int]) -> list[int]:
    """Find a shortest path of at least one round to a target; leave out its start."""
    predecessor: dict[int, int] = {}
    waiting = deque([start])
    while True:
        state = waiting.popleft()
        for after in sorted(graph.successors(state)):
            if after in predecessor:
                continue
            predecessor[after] = state
            waiting.append(after)
            if after in targets:
                path = [after]
                while predecessor[path[-1]] != start:
                    path.append(predecessor[path[-1]])
                return path[::-1]
