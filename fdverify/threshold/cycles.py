"""Cycles among the locations of an automaton, or among the statuses of a process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Protocol, TypeVar


class DirectedEdge(Protocol):
    """A rule or a step, which leads from one place to another."""

    @property
    def source(self) -> str: ...

    @property
    def target(self) -> str: ...


EdgeType = TypeVar("EdgeType", bound=DirectedEdge)


def select_edges_on_cycles(edges: Iterable[EdgeType]) -> list[EdgeType]:
    """Select the edges that lie on a cycle: both ends are in one strongly connected component."""
    moves = list(edges)
    sorter = TopologicalSorter[str]()
    for edge in moves:
        if edge.source != edge.target:
            sorter.add(edge.target, edge.source)
    try:
        sorter.prepare()
    except CycleError:
        component = _number_components(moves)
        return [edge for edge in moves if component[edge.source] == component[edge.target]]
    return [edge for edge in moves if edge.source == edge.target]


def _number_components(edges: Sequence[DirectedEdge]) -> dict[str, int]:
    import networkx  # most automata have no cycles, and importing it takes longer than checking a small one

    graph = networkx.DiGraph([(edge.source, edge.target) for edge in edges])
    components = enumerate(networkx.strongly_connected_components(graph))
    return {place: number for number, places in components for place in places}
