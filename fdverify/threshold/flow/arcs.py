"""The steps of a control flow automaton: its paths, with their conditions and effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import networkx as nx

from fdverify.errors import UsageError
from fdverify.threshold.claims.normal import all_of, positive
from fdverify.threshold.flow.automaton import ControlFlow
from fdverify.threshold.flow.operations import Become, Operation, Reached, Receive, Send, StatusIs, Test, read_operation
from fdverify.threshold.formula import And, Comparison, Constant, Formula, Linear
from fdverify.threshold.names import shown

_MOST_PATHS = 5_000
_MOST_ARCS = 5_000


@dataclass(frozen=True)
class Received:
    """The constraints on a counter's new value in a step: an upper bound, lower bounds, and strict upper bounds."""

    written: Linear
    """The bound, over the shared variables at the time of receiving."""
    bound: Linear
    """The same bound, over the shared variables before the step: messages that the step sent earlier are added."""
    at_least: tuple[Linear, ...] = ()
    below: tuple[Linear, ...] = ()

    def possible(self) -> Formula:
        """State that a process whose counter is 0 can satisfy the constraints."""
        lower = (*self.at_least, Linear())
        claims = [at_most(number, self.bound) for number in lower]
        claims += [less_than(number, limit) for number in lower for limit in self.below]
        return all_of(dict.fromkeys(claims))


@dataclass(frozen=True)
class Arc:
    """A step of a process from one status to another."""

    source: str
    target: str
    adds: tuple[tuple[str, int], ...] = ()
    received: tuple[tuple[str, Received], ...] = ()

    @property
    def has_effect(self) -> bool:
        """Whether the step changes the status or a shared variable."""
        return self.source != self.target or bool(self.adds)

    def adding(self, linear: Linear) -> int:
        """Return by how much the step increases a linear expression."""
        added = dict(self.adds)
        return sum(factor * added.get(name, 0) for name, factor in linear.factors)


def at_most(left: Linear, right: Linear) -> Formula:
    return _unless_known(Comparison(right, ">=", left))


def less_than(left: Linear, right: Linear) -> Formula:
    return _unless_known(Comparison(left, "<", right))


def _unless_known(comparison: Comparison) -> Formula:
    """Return a constant if the comparison is one, else the comparison as written."""
    simplified = positive(comparison)
    return simplified if isinstance(simplified, Constant) else comparison


def arcs(flow: ControlFlow) -> list[Arc]:
    """Enumerate the steps that are possible for some parameters; refuse a malformed control flow automaton."""
    operations = {text: read_operation(flow, text) for _, text, _ in flow.edges}
    steps: dict[Arc, None] = {}
    for path in _paths(flow):
        for status in flow.statuses:
            for arc in _along(flow, [(text, operations[text]) for text in path], Arc(status, status)):
                if all(received.possible() != Constant(False) for _, received in arc.received):
                    steps[arc] = None
            if len(steps) > _MOST_ARCS:
                raise UsageError(f"{flow.name}: a process has more than {_MOST_ARCS} different steps")
    return list(steps)


def _paths(flow: ControlFlow) -> Iterator[list[str]]:
    """Enumerate the paths from start to end, as lists of operations."""
    graph: Any = nx.MultiDiGraph()
    graph.add_nodes_from((flow.start, flow.end))
    for source, operation, target in flow.edges:
        graph.add_edge(source, target, operation=operation)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = " -> ".join(shown(source) for source, *_ in nx.find_cycle(graph))
        raise UsageError(f"{flow.name}: the edges of a step form a cycle: {cycle}")
    paths = list(islice(nx.all_simple_edge_paths(graph, flow.start, flow.end), _MOST_PATHS + 1))
    if not paths:
        raise UsageError(f"{flow.name}: no path leads from {shown(flow.start)} to {shown(flow.end)}")
    if len(paths) > _MOST_PATHS:
        raise UsageError(f"{flow.name}: there are more than {_MOST_PATHS} paths through a step")
    for path in paths:
        yield [graph.edges[edge]["operation"] for edge in path]


def _along(flow: ControlFlow, operations: Sequence[tuple[str, Operation]], start: Arc) -> list[Arc]:
    """Extend a step along these operations; a disjunction in a guard splits it."""
    steps = [start]
    for text, operation in operations:
        steps = list(dict.fromkeys(after for arc in steps for after in _after(flow, text, operation, arc)))
        if len(steps) > _MOST_ARCS:
            raise UsageError(f"{flow.name}: {shown(text)}: there are more than {_MOST_ARCS} ways to get here")
    return steps


def _after(flow: ControlFlow, text: str, operation: Operation, arc: Arc) -> list[Arc]:
    """Extend a step by one operation."""
    match operation:
        case Become(status):
            return [replace(arc, target=status)]
        case Send(variable):
            adds = dict(arc.adds)
            adds[variable] = adds.get(variable, 0) + 1
            return [replace(arc, adds=tuple(sorted(adds.items())))]
        case Receive(counter, bound):
            if counter in dict(arc.received):
                raise UsageError(f"{flow.name}: {shown(text)}: {counter} is received twice in a step")
            received = Received(bound, bound.plus(Linear(constant=arc.adding(bound))))
            return [replace(arc, received=(*arc.received, (counter, received)))]
        case _:
            return _satisfying(flow, text, operation, arc)


def _satisfying(flow: ControlFlow, text: str, test: Test, arc: Arc) -> list[Arc]:
    """Restrict a step to those that pass a test."""
    match test:
        case Constant(value):
            return [arc] if value else []
        case StatusIs(status, wanted):
            return [arc] if (arc.target == status) == wanted else []
        case Reached(counter, number, wanted):
            received = dict(arc.received)
            if counter not in received:
                raise UsageError(f"{flow.name}: {shown(text)}: {counter} is not received earlier in this step")
            old = received[counter]
            received[counter] = (
                replace(old, at_least=_with(old.at_least, number))
                if wanted
                else replace(old, below=_with(old.below, number))
            )
            return [replace(arc, received=tuple(received.items()))]
    kind, left, right = test
    if kind is And:
        return [end for after in _satisfying(flow, text, left, arc) for end in _satisfying(flow, text, right, after)]
    return [*_satisfying(flow, text, left, arc), *_satisfying(flow, text, right, arc)]


def _with(numbers: tuple[Linear, ...], number: Linear) -> tuple[Linear, ...]:
    return numbers if number in numbers else (*numbers, number)
