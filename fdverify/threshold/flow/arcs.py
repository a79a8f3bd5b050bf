"""The steps of a control flow automaton: its paths, with their conditions and effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from fdverify.errors import UsageError
from fdverify.threshold.automaton_names import format_for_message
from fdverify.threshold.claims.nnf import conjoin_all, convert_to_nnf
from fdverify.threshold.flow.control_flow import ControlFlow
from fdverify.threshold.flow.step_operations import (
    CounterTest,
    Operation,
    ReceiveMessages,
    SendMessage,
    SetStatus,
    StatusTest,
    Test,
    parse_operation,
)
from fdverify.threshold.ltl_formula import And, Constant, Formula, LinearComparison, LinearExpression

_MOST_PATHS = 5_000
_MOST_ARCS = 5_000


@dataclass(frozen=True)
class ReceptionConstraint:
    """The constraints on a counter's new value in a step: an upper bound, lower bounds, and strict upper bounds."""

    written: LinearExpression
    """The bound, over the shared variables at the time of receiving."""
    bound: LinearExpression
    """The same bound, over the shared variables before the step: messages that the step sent earlier are added."""
    at_least: tuple[LinearExpression, ...] = ()
    below: tuple[LinearExpression, ...] = ()

    def build_condition(self) -> Formula:
        """State that a process whose counter is 0 can satisfy the constraints."""
        lower = (*self.at_least, LinearExpression())
        claims = [at_most(number, self.bound) for number in lower]
        claims += [less_than(number, limit) for number in lower for limit in self.below]
        return conjoin_all(dict.fromkeys(claims))


@dataclass(frozen=True)
class Arc:
    """A step of a process from one status to another."""

    source: str
    target: str
    adds: tuple[tuple[str, int], ...] = ()
    received: tuple[tuple[str, ReceptionConstraint], ...] = ()

    @property
    def has_effect(self) -> bool:
        """Whether the step changes the status or a shared variable."""
        return self.source != self.target or bool(self.adds)

    def compute_growth(self, linear: LinearExpression) -> int:
        """Return by how much the step increases a linear expression."""
        added = dict(self.adds)
        return sum(factor * added.get(name, 0) for name, factor in linear.factors)


def at_most(left: LinearExpression, right: LinearExpression) -> Formula:
    return _simplify_constant(LinearComparison(right, ">=", left))


def less_than(left: LinearExpression, right: LinearExpression) -> Formula:
    return _simplify_constant(LinearComparison(left, "<", right))


def _simplify_constant(comparison: LinearComparison) -> Formula:
    """Return a constant if the comparison is one, else the comparison as written."""
    simplified = convert_to_nnf(comparison)
    return simplified if isinstance(simplified, Constant) else comparison


def enumerate_arcs(flow: ControlFlow) -> list[Arc]:
    """Enumerate the steps that are possible for some parameters; refuse a malformed control flow automaton."""
    operations = {text: parse_operation(flow, text) for _, text, _ in flow.edges}
    steps: dict[Arc, None] = {}
    for path in _enumerate_paths(flow):
        for status in flow.statuses:
            for arc in _extend_along(flow, [(text, operations[text]) for text in path], Arc(status, status)):
                if all(received.build_condition() != Constant(False) for _, received in arc.received):
                    steps[arc] = None
            if len(steps) > _MOST_ARCS:
                raise UsageError(f"{flow.name}: a process has more than {_MOST_ARCS} different steps")
    return list(steps)


def _enumerate_paths(flow: ControlFlow) -> Iterator[list[str]]:
    """Enumerate the paths from start to end, as lists of operations."""
    import networkx as nx  # automata in ByMC's format do not need it

    graph: Any = nx.MultiDiGraph()
    graph.add_nodes_from((flow.start, flow.end))
    for source, operation, target in flow.edges:
        graph.add_edge(source, target, operation=operation)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = " -> ".join(format_for_message(source) for source, *_ in nx.find_cycle(graph))
        raise UsageError(f"{flow.name}: the edges of a step form a cycle: {cycle}")
    paths = list(islice(nx.all_simple_edge_paths(graph, flow.start, flow.end), _MOST_PATHS + 1))
    if not paths:
        raise UsageError(
            f"{flow.name}: no path leads from {format_for_message(flow.start)} to {format_for_message(flow.end)}"
        )
    if len(paths) > _MOST_PATHS:
        raise UsageError(f"{flow.name}: there are more than {_MOST_PATHS} paths through a step")
    for path in paths:
        yield [graph.edges[edge]["operation"] for edge in path]


def _extend_along(flow: ControlFlow, operations: Sequence[tuple[str, Operation]], start: Arc) -> list[Arc]:
    """Extend a step along these operations; a disjunction in a guard splits it."""
    steps = [start]
    for text, operation in operations:
        steps = list(dict.fromkeys(after for arc in steps for after in _apply_operation(flow, text, operation, arc)))
        if len(steps) > _MOST_ARCS:
            raise UsageError(
                f"{flow.name}: {format_for_message(text)}: there are more than {_MOST_ARCS} ways to get here"
            )
    return steps


def _apply_operation(flow: ControlFlow, text: str, operation: Operation, arc: Arc) -> list[Arc]:
    """Extend a step by one operation."""
    match operation:
        case SetStatus(status):
            return [replace(arc, target=status)]
        case SendMessage(variable):
            adds = dict(arc.adds)
            adds[variable] = adds.get(variable, 0) + 1
            return [replace(arc, adds=tuple(sorted(adds.items())))]
        case ReceiveMessages(counter, bound):
            if counter in dict(arc.received):
                raise UsageError(f"{flow.name}: {format_for_message(text)}: {counter} is received twice in a step")
            received = ReceptionConstraint(bound, bound.add(LinearExpression(constant=arc.compute_growth(bound))))
            return [replace(arc, received=(*arc.received, (counter, received)))]
        case _:
            return _apply_test(flow, text, operation, arc)


def _apply_test(flow: ControlFlow, text: str, test: Test, arc: Arc) -> list[Arc]:
    """Restrict a step to those that pass a test."""
    match test:
        case Constant(value):
            return [arc] if value else []
        case StatusTest(status, wanted):
            return [arc] if (arc.target == status) == wanted else []
        case CounterTest(counter, number, wanted):
            received = dict(arc.received)
            if counter not in received:
                raise UsageError(
                    f"{flow.name}: {format_for_message(text)}: {counter} is not received earlier in this step"
                )
            old = received[counter]
            received[counter] = (
                replace(old, at_least=_append_once(old.at_least, number))
                if wanted
                else replace(old, below=_append_once(old.below, number))
            )
            return [replace(arc, received=tuple(received.items()))]
    kind, left, right = test
    if kind is And:
        return [end for after in _apply_test(flow, text, left, arc) for end in _apply_test(flow, text, right, after)]
    return [*_apply_test(flow, text, left, arc), *_apply_test(flow, text, right, arc)]


def _append_once(numbers: tuple[LinearExpression, ...], number: LinearExpression) -> tuple[LinearExpression, ...]:
    return numbers if number in numbers else (*numbers, number)
