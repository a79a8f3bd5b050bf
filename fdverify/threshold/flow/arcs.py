"""The steps that a control flow automaton allows: its paths, with what they require and what they do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx

from fdverify.errors import UsageError, did_you_mean
from fdverify.threshold.claims.normal import positive
from fdverify.threshold.flow.automaton import ControlFlow
from fdverify.threshold.formula import And, Comparison, Constant, Formula, Linear, Or
from fdverify.threshold.text.read import read_claim, read_linear

STATUS = "sv"
_BECOME = re.compile(r"\s*sv\s*:=\s*(\w+)\s*")
_INC = re.compile(r"\s*inc\s+(\w+)\s*")
_RECEIVE = re.compile(r"\s*(\w+)\s*:=\s*e\s+where\s+(\w+)\s*<=\s*e\s*<=(.*)", flags=re.DOTALL)


@dataclass(frozen=True)
class Received:
    """A counter's new value: at most the bound, at least each of some numbers, and less than each of others."""

    bound: Linear
    at_least: tuple[Linear, ...] = ()
    below: tuple[Linear, ...] = ()


@dataclass(frozen=True)
class Arc:
    """What a process of one status can do in a step."""

    source: str
    target: str
    adds: Mapping[str, int]
    received: Mapping[str, Received]


def arcs(flow: ControlFlow) -> list[Arc]:
    """All steps; what is no control flow automaton is refused."""
    return _Steps(flow).arcs()


class _Steps:
    def __init__(self, flow: ControlFlow) -> None:
        self._flow = flow
        for status in flow.initial:
            self._known(status, flow.statuses, "status", "initial")
        self._counters = tuple(flow.due)

    def arcs(self) -> list[Arc]:
        found = []
        for path in self._paths():
            for status in self._flow.statuses:
                found += self._along(path, Arc(status, status, {}, {}))
        return list({repr(arc): arc for arc in found}.values())

    def _paths(self) -> Iterator[list[str]]:
        flow = self._flow
        graph: Any = nx.MultiDiGraph()
        graph.add_nodes_from((flow.start, flow.end))
        for source, operation, target in flow.edges:
            graph.add_edge(source, target, operation=operation)
        if not nx.is_directed_acyclic_graph(graph):
            cycle = " -> ".join(source for source, *_ in nx.find_cycle(graph))
            raise UsageError(f"{flow.name}: the edges of a step form a cycle: {cycle}")
        paths = list(nx.all_simple_edge_paths(graph, flow.start, flow.end))
        if not paths:
            raise UsageError(f"{flow.name}: no path leads from {flow.start} to {flow.end}")
        for path in paths:
            yield [graph.edges[edge]["operation"] for edge in path]

    def _along(self, operations: Sequence[str], arc: Arc) -> list[Arc]:
        """A step along these operations, in each way that its guards allow."""
        if not operations:
            return [arc]
        operation, *others = operations
        return [end for after in self._after(operation, arc) for end in self._along(others, after)]

    def _after(self, operation: str, arc: Arc) -> list[Arc]:
        if found := _BECOME.fullmatch(operation):
            return [replace(arc, target=self._known(found[1], self._flow.statuses, "status", operation))]
        if found := _INC.fullmatch(operation):
            name = self._known(found[1], self._flow.shared, "shared variable", operation)
            return [replace(arc, adds={**arc.adds, name: arc.adds.get(name, 0) + 1})]
        if found := _RECEIVE.fullmatch(operation):
            return [self._receive(operation, found[1], found[2], found[3], arc)]
        names = (STATUS, *self._flow.statuses, *self._counters, *self._flow.parameters, *self._flow.shared)
        guard = positive(read_claim(operation, names, f"{self._flow.name}: {operation}"))
        return self._satisfying(operation, guard, arc)

    def _receive(self, operation: str, counter: str, same: str, bound: str, arc: Arc) -> Arc:
        self._known(counter, self._counters, "counter", operation)
        if same != counter:
            raise UsageError(f"{self._flow.name}: {operation}: a counter does not fall: {counter} <= e")
        if counter in arc.received:
            raise UsageError(f"{self._flow.name}: {operation}: {counter} is received twice in a step")
        names = (*self._flow.shared, *self._flow.parameters)
        most = read_linear(bound, names, f"{self._flow.name}: {operation}")
        if any(factor < 0 for name, factor in most.factors if name in self._flow.shared):
            raise UsageError(f"{self._flow.name}: {operation}: what can be received does not become less")
        # What this step has sent before can be received in it.
        sent = sum(factor * arc.adds.get(name, 0) for name, factor in most.factors)
        return replace(arc, received={**arc.received, counter: Received(most.plus(Linear(constant=sent)))})

    def _satisfying(self, operation: str, guard: Formula, arc: Arc) -> list[Arc]:
        match guard:
            case Constant(value):
                return [arc] if value else []
            case And(left, right):
                return [
                    end
                    for after in self._satisfying(operation, left, arc)
                    for end in self._satisfying(operation, right, after)
                ]
            case Or(left, right):
                return [*self._satisfying(operation, left, arc), *self._satisfying(operation, right, arc)]
            case Comparison():
                return self._compared(operation, guard, arc)
            case _:
                raise AssertionError("nothing else is without times and negations")

    def _compared(self, operation: str, comparison: Comparison, arc: Arc) -> list[Arc]:
        difference, operator = comparison.difference(), comparison.operator
        names = difference.names()
        if names & {STATUS, *self._flow.statuses}:
            return self._with_status(operation, difference, operator, arc)
        counter = next(iter(names & set(self._counters)), None)
        factor = dict(difference.factors).get(counter or "", 0)
        if counter is None or abs(factor) != 1 or names - {counter, *self._flow.parameters} or operator in ("==", "!="):
            raise UsageError(
                f"{self._flow.name}: {operation}: this is no threshold",
                "compare a counter with parameters: T + 1 <= rcvd",
            )
        if counter not in arc.received:
            raise UsageError(f"{self._flow.name}: {operation}: {counter} is not received before in this step")
        if factor < 0:
            difference, operator = difference.times(-1), {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[operator]
        number = Linear.of({counter: 1}).plus(difference, -1)  # the counter is compared with this
        received = arc.received[counter]
        match operator:
            case ">=" | ">":
                more = number if operator == ">=" else number.plus(Linear(constant=1))
                changed = replace(received, at_least=(*received.at_least, more))
            case _:
                more = number if operator == "<" else number.plus(Linear(constant=1))
                changed = replace(received, below=(*received.below, more))
        return [replace(arc, received={**arc.received, counter: changed})]

    def _with_status(self, operation: str, difference: Linear, operator: str, arc: Arc) -> list[Arc]:
        factors = dict(difference.factors)
        statuses = [name for name in factors if name != STATUS]
        one = len(statuses) == 1 and statuses[0] in self._flow.statuses and abs(factors.get(STATUS, 0)) == 1
        if not one or sum(list(factors.values())) != 0 or difference.constant or operator not in ("==", "!="):
            raise UsageError(f"{self._flow.name}: {operation}: a status is compared by sv == STATUS or sv != STATUS")
        return [arc] if (arc.target == statuses[0]) == (operator == "==") else []

    def _known(self, name: str, known: Sequence[str], kind: str, operation: str) -> str:
        if name not in known:
            hint = did_you_mean(name, known) if known else None
            raise UsageError(f"{self._flow.name}: {operation}: there is no {kind} {name}", hint)
        return name
