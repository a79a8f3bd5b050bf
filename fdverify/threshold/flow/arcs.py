"""The steps that a control flow automaton allows: its paths, with what they require and what they do."""

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
    """A counter's new value in a step: at most a bound, at least each of some numbers, and less than each of others."""

    written: Linear
    """The bound over shared variables at the time of receiving."""
    bound: Linear
    """The same over shared variables before the step: what it has sent by then can be received."""
    at_least: tuple[Linear, ...] = ()
    below: tuple[Linear, ...] = ()

    def possible(self) -> Formula:
        """Whether a process that has received nothing can receive so much."""
        least = (*self.at_least, Linear())
        claims = [at_most(number, self.bound) for number in least]
        claims += [less_than(number, limit) for number in least for limit in self.below]
        return all_of(dict.fromkeys(claims))


@dataclass(frozen=True)
class Arc:
    """What a process of one status can do in a step."""

    source: str
    target: str
    adds: tuple[tuple[str, int], ...] = ()
    received: tuple[tuple[str, Received], ...] = ()

    @property
    def has_effect(self) -> bool:
        """Whether others can see that it was taken."""
        return self.source != self.target or bool(self.adds)

    def adding(self, linear: Linear) -> int:
        """By how much the whole step makes a sum grow."""
        added = dict(self.adds)
        return sum(factor * added.get(name, 0) for name, factor in linear.factors)


def at_most(left: Linear, right: Linear) -> Formula:
    return _unless_known(Comparison(right, ">=", left))


def less_than(left: Linear, right: Linear) -> Formula:
    return _unless_known(Comparison(left, "<", right))


def _unless_known(comparison: Comparison) -> Formula:
    """As it is written, unless it says nothing."""
    known = positive(comparison)
    return known if isinstance(known, Constant) else comparison


def arcs(flow: ControlFlow) -> list[Arc]:
    """All steps that are possible for some parameters; what is no control flow automaton is refused."""
    operations = {text: read_operation(flow, text) for _, text, _ in flow.edges}
    found: dict[Arc, None] = {}
    for path in _paths(flow):
        for status in flow.statuses:
            for arc in _along(flow, [(text, operations[text]) for text in path], Arc(status, status)):
                if all(received.possible() != Constant(False) for _, received in arc.received):
                    found[arc] = None
            if len(found) > _MOST_ARCS:
                raise UsageError(f"{flow.name}: a process has more than {_MOST_ARCS} different steps")
    return list(found)


def _paths(flow: ControlFlow) -> Iterator[list[str]]:
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
    """A step along these operations, in each way that its guards allow."""
    found = [start]
    for text, operation in operations:
        found = list(dict.fromkeys(after for arc in found for after in _after(flow, text, operation, arc)))
        if len(found) > _MOST_ARCS:
            raise UsageError(f"{flow.name}: {shown(text)}: there are more than {_MOST_ARCS} ways to come here")
    return found


def _after(flow: ControlFlow, text: str, operation: Operation, arc: Arc) -> list[Arc]:
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
    match test:
        case Constant(value):
            return [arc] if value else []
        case StatusIs(status, wanted):
            return [arc] if (arc.target == status) == wanted else []
        case Reached(counter, number, wanted):
            received = dict(arc.received)
            if counter not in received:
                raise UsageError(f"{flow.name}: {shown(text)}: {counter} is not received before in this step")
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
