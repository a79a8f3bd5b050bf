"""Explicit-state exploration of small systems: N processes under fixed bounds Δ and Φ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, permutations, product
from typing import Any, NamedTuple

from fdverify.cutoff.concrete_interpretation import ConcreteInterpretation
from fdverify.cutoff.indexed_formula import CutoffProperty
from fdverify.cutoff.rounds import (
    CONSTRAINTS,
    DELIVERY,
    Choices,
    ComputationModel,
    Configuration,
    Kind,
    Rule,
    SubRound,
)
from fdverify.cutoff.template import CORRECT, CRASHED, Template, Temporal
from fdverify.errors import UsageError

_LARGEST = 3
"""The most processes that are explored: by the cutoff theorem, more add nothing but states."""


class StoredConfiguration(NamedTuple):
    """A configuration in storable form; the last three fields have one entry for each stored pair, in order."""

    location: tuple[str, ...]
    active: tuple[bool, ...]
    idle: tuple[int, ...]
    received: tuple[Any, ...]
    value: tuple[Any, ...]
    buffer: tuple[Any, ...]


class ExplorationNode(NamedTuple):
    """A state, and the number of the next sub-round."""

    following: int
    state: StoredConfiguration


class UnwatchedPair(Exception):
    """A rule or function read a pair that is not stored."""


@dataclass(frozen=True)
class ExplorationResult:
    """The explorer's result; ``complete`` unless the depth limit ended the search."""

    holds: bool
    complete: bool
    states: int
    rounds: int
    run: tuple[ExplorationNode, ...] = ()
    """A run to a configuration that violates the claim; for F G, a lasso whose loop starts at ``loop``."""
    loop: int | None = None
    processes: tuple[int, ...] = ()
    """The processes for which the claim fails, in the order of its indexes."""
    dead_end: bool = False


SUB_ROUNDS = tuple(SubRound)


def check_system_bounds(processes: int, delta: int, phi: int) -> None:
    """Refuse bounds that make no sense, and systems that are too large."""
    for name, value, minimum in (("processes", processes, 1), ("delta", delta, 0), ("phi", phi, 1)):
        if value < minimum:
            raise UsageError(f"--{name} must be at least {minimum}, got {value}")
    if processes > _LARGEST:
        raise UsageError(
            f"at most {_LARGEST} processes are explored, got {processes}", "the cutoff theorem covers larger systems"
        )


@dataclass
class SmallSystem:
    """A system of N processes under bounds and a model of computation.

    ``watched`` are the pairs (p, q) that are stored: p's value for q, the messages received from q, and the buffer from
    q to p.  By default all pairs are stored.  Dropping the others is exact for a property of the stored pairs: in the
    sub-rounds of `Rounds`, what happens to a pair depends on no other pair.
    """

    template: Template
    processes: int
    delta: int
    phi: int
    computation: ComputationModel = ComputationModel.PARTIAL_SYNCHRONY
    watched: Sequence[tuple[int, int]] | None = None
    interpretation: ConcreteInterpretation = field(init=False)

    def __post_init__(self) -> None:
        check_system_bounds(self.processes, self.delta, self.phi)
        self.indexes = range(1, self.processes + 1)
        all_pairs: list[tuple[int, int]] = [(p, q) for p in self.indexes for q in self.indexes]
        self.pairs = tuple(self.watched or all_pairs)
        self._place = {pair: place for place, pair in enumerate(self.pairs)}
        self.interpretation = ConcreteInterpretation(
            self.template, self.delta, self.phi, forgets=DELIVERY in self.computation.constraints
        )

    def some(self, claim: Callable[[int], Any]) -> bool:
        return any(claim(p) for p in self.indexes)

    def build_initial_node(self) -> ExplorationNode:
        return ExplorationNode(0, self.store_configuration(self.template.rounds.begin(self.interpretation, self.some)))

    def store_configuration(self, c: Configuration) -> StoredConfiguration:
        return StoredConfiguration(
            tuple(c.location(p) for p in self.indexes),
            tuple(c.active(p) for p in self.indexes),
            tuple(c.idle(p) for p in self.indexes),
            tuple(c.received(p, q) for p, q in self.pairs),
            tuple(c.value(p, q) for p, q in self.pairs),
            tuple(c.buffer(q, p) for p, q in self.pairs),
        )

    def restore_configuration(self, state: StoredConfiguration) -> Configuration:
        def make_reader(values: tuple[Any, ...]) -> Callable[[int, int], Any]:
            def read_pair(p: int, q: int) -> Any:
                place = self._place.get((p, q))
                if place is None:
                    raise UnwatchedPair
                return values[place]

            return read_pair

        buffer = make_reader(state.buffer)
        return Configuration(
            location=lambda p: state.location[p - 1],
            active=lambda p: state.active[p - 1],
            idle=lambda p: state.idle[p - 1],
            received=make_reader(state.received),
            value=make_reader(state.value),
            buffer=lambda s, r: buffer(r, s),
            some=self.some,
        )

    def list_successors(self, node: ExplorationNode) -> list[ExplorationNode]:
        """Enumerate the nodes that the next sub-round leads to."""
        sub_round = SUB_ROUNDS[node.following]
        before = self.restore_configuration(node.state)
        following = (node.following + 1) % len(SUB_ROUNDS)
        nodes: dict[ExplorationNode, None] = {}
        for chosen in self._enumerate_choices(sub_round, node.state):
            step = self.template.rounds.step(sub_round, self.interpretation, before, chosen)
            if all(self._is_satisfied(rule) for name, rule in step.rules.items() if self._is_in_force(name)):
                nodes.setdefault(ExplorationNode(following, self.store_configuration(step.after)))
        return list(nodes)

    def _is_in_force(self, rule: str) -> bool:
        return rule not in CONSTRAINTS or rule in self.computation.constraints

    def _is_satisfied(self, rule: Rule) -> bool:
        """Return whether a rule holds for all pairs of which it reads stored parts only."""
        for p, q in product(self.indexes, repeat=2):
            try:
                if not rule(p, q):
                    return False
            except UnwatchedPair:
                continue
        return True

    def _enumerate_choices(self, sub_round: SubRound, state: StoredConfiguration) -> Iterator[Choices]:
        """Enumerate the choices of a sub-round."""
        nobody = (False,) * self.processes
        nothing = dict.fromkeys(self.pairs, self.interpretation.no_transit)
        if sub_round is SubRound.SCHEDULE:
            options = [
                ((False, False), (True, False), (False, True)) if location != CRASHED else ((False, False),)
                for location in state.location
            ]
            for decided in product(*options):
                yield self._build_choices(
                    tuple(crash for crash, _ in decided), tuple(active for _, active in decided), nothing
                )
        elif sub_round is SubRound.RECEIVE:
            receiving = [
                state.active[p - 1] and self.interpretation.is_kind(state.location[p - 1], Kind.RECEIVE)
                for p in self.indexes
            ]
            parts_of_buffers = [
                _list_subsets(buffer) if receiving[p - 1] else (self.interpretation.no_transit,)
                for (p, _), buffer in zip(self.pairs, state.buffer, strict=True)
            ]
            for parts in product(*parts_of_buffers):
                yield self._build_choices(nobody, nobody, dict(zip(self.pairs, parts, strict=True)))
        else:
            yield self._build_choices(nobody, nobody, nothing)

    def _build_choices(
        self, crash: tuple[bool, ...], active: tuple[bool, ...], delivered: dict[tuple[int, int], Any]
    ) -> Choices:
        def read_delivered(s: int, r: int) -> Any:
            if (r, s) not in delivered:
                raise UnwatchedPair
            return delivered[r, s]

        return Choices(lambda p: crash[p - 1], lambda p: active[p - 1], read_delivered)

    def make_predicate_evaluator(
        self, state: StoredConfiguration, assignment: dict[str, int]
    ) -> Callable[[str, tuple[str, ...]], bool]:
        """Return a function that evaluates a predicate of indexes in a state."""

        def evaluate_predicate(predicate: str, indexes: tuple[str, ...]) -> bool:
            processes = tuple(assignment[index] for index in indexes)
            if predicate == CORRECT:
                return state.location[processes[0] - 1] != CRASHED
            p, q = processes
            return bool(self.template.predicates[predicate](state.value[self._place[p, q]]))

        return evaluate_predicate


def _list_subsets(buffer: Any) -> tuple[Any, ...]:
    """Return all subsets of a buffer, in an order that does not depend on hashes."""
    ordered = sorted(buffer, key=repr)
    sizes = range(len(ordered) + 1)
    return tuple(map(frozenset, chain.from_iterable(combinations(ordered, size) for size in sizes)))


def explore_small_system(
    instance: SmallSystem, shape: CutoffProperty, depth: int | None = None, equal: bool = False
) -> ExplorationResult:
    """Decide whether the claim holds for all distinct processes, or for each process with itself (``equal``)."""
    if shape.temporal is None:
        raise UsageError("the explorer decides only G f and F G f where f has no temporal operator")
    assignments = _enumerate_assignments(instance, shape, equal)
    first = instance.build_initial_node()
    predecessor: dict[ExplorationNode, ExplorationNode | None] = {first: None}
    edges: dict[ExplorationNode, list[ExplorationNode]] = {}
    frontier, done = [first], 0
    while frontier:
        if shape.temporal is Temporal.ALWAYS:
            violation = next(_find_violations(instance, shape, assignments, frontier), None)
            if violation is not None:
                node, processes = violation
                instance.interpretation.check_determinism()
                run = _rebuild_run(predecessor, node)
                return ExplorationResult(False, True, len(predecessor), _count_rounds(done), run, processes=processes)
        if depth is not None and done == len(SUB_ROUNDS) * depth:
            break
        next_frontier: list[ExplorationNode] = []
        for node in frontier:
            edges[node] = instance.list_successors(node)
            for after in edges[node]:
                if after not in predecessor:
                    predecessor[after] = node
                    next_frontier.append(after)
        frontier, done = next_frontier, done + 1
    instance.interpretation.check_determinism()
    dead_end = not all(edges.values())
    if shape.temporal is Temporal.EVENTUALLY_ALWAYS:
        violation = _find_recurring_violation(edges, _find_violations(instance, shape, assignments, edges))
        if violation is not None:
            node, processes = violation
            stem = _rebuild_run(predecessor, node)
            loop = _find_cycle(edges, node)
            return ExplorationResult(
                False, True, len(predecessor), _count_rounds(done), (*stem, *loop), len(stem) - 1, processes
            )
    return ExplorationResult(True, not frontier, len(predecessor), _count_rounds(done), dead_end=dead_end)


def _count_rounds(sub_rounds: int) -> int:
    return -(-sub_rounds // len(SUB_ROUNDS))


def _enumerate_assignments(instance: SmallSystem, shape: CutoffProperty, equal: bool) -> list[dict[str, int]]:
    """Enumerate the assignments of processes to indexes for which all pairs that the formula reads are stored."""
    if equal or len(shape.indexes) == 1:
        candidates = [dict.fromkeys(shape.indexes, p) for p in instance.indexes]
    else:
        chosen = permutations(instance.indexes, len(shape.indexes))
        candidates = [dict(zip(shape.indexes, processes, strict=True)) for processes in chosen]
    pairs = [part.indexes for part in shape.formula.walk() if len(part.indexes) == 2]
    stored = set(instance.pairs)
    return [candidate for candidate in candidates if all((candidate[p], candidate[q]) in stored for p, q in pairs)]


def _find_violations(
    instance: SmallSystem, shape: CutoffProperty, assignments: list[dict[str, int]], nodes: Iterable[ExplorationNode]
) -> Iterator[tuple[ExplorationNode, tuple[int, ...]]]:
    """Enumerate the nodes in which the claim about states fails, with the processes for which it fails."""
    for node in nodes:
        for assignment in assignments:
            if not shape.holds(instance.make_predicate_evaluator(node.state, assignment)):
                yield node, tuple(assignment.values())


def _rebuild_run(
    predecessor: dict[ExplorationNode, ExplorationNode | None], last: ExplorationNode
) -> tuple[ExplorationNode, ...]:
    """Follow predecessors back from a node and return the run from the initial node to it."""
    run, node = [last], predecessor[last]
    while node is not None:
        run.append(node)
        node = predecessor[node]
    return tuple(reversed(run))


def _find_recurring_violation(
    edges: dict[ExplorationNode, list[ExplorationNode]], violations: Iterator[tuple[ExplorationNode, tuple[int, ...]]]
) -> tuple[ExplorationNode, tuple[int, ...]] | None:
    """Find a violation on a cycle: its node lies in a strongly connected component of more than one node."""
    from networkx import DiGraph, strongly_connected_components

    graph = DiGraph((node, after) for node, following in edges.items() for after in following)
    # Each edge leads to the next sub-round, so no node is its own successor.
    components = [component for component in strongly_connected_components(graph) if len(component) > 1]
    recurring = set().union(*components)
    return next((violation for violation in violations if violation[0] in recurring), None)


def _find_cycle(edges: dict[ExplorationNode, list[ExplorationNode]], node: ExplorationNode) -> list[ExplorationNode]:
    """Find a shortest cycle from a node to itself, by breadth-first search; return the nodes after the first."""
    predecessor: dict[ExplorationNode, ExplorationNode] = {}
    frontier = [node]
    while node not in predecessor:
        next_frontier = []
        for before in frontier:
            for after in edges.get(before, ()):
                if after not in predecessor:
                    predecessor[after] = before
                    next_frontier.append(after)
        frontier = next_frontier
    path = [node]
    while predecessor[path[-1]] != node:
        path.append(predecessor[path[-1]])
    return path[::-1]


def format_run(instance: SmallSystem, run: Sequence[ExplorationNode]) -> list[dict[str, str]]:
    """Format a run as rows of a table: the configurations between rounds, and the last one."""
    shown = [node for number, node in enumerate(run) if node.following == 0 or number == len(run) - 1]
    return [_format_row(instance, number, node) for number, node in enumerate(shown)]


def _format_row(instance: SmallSystem, number: int, node: ExplorationNode) -> dict[str, str]:
    state = node.state
    sub_round = f" before {SUB_ROUNDS[node.following]}" if node.following else ""
    row = {"round": f"{number}{sub_round}"}
    for p in instance.indexes:
        row[f"process {p}"] = state.location[p - 1]
        row[f"idle {p}"] = str(state.idle[p - 1])
    for (p, q), value, buffer in zip(instance.pairs, state.value, state.buffer, strict=True):
        row[f"{p} of {q}"] = _format_value(value)
        row[f"{q} to {p}"] = "{" + ", ".join(f"{message} {age}" for message, age in sorted(buffer, key=repr)) + "}"
    return row


def _format_value(value: Any) -> str:
    parts: dict[str, Any] = getattr(value, "_asdict", dict)()
    return ", ".join(f"{name} {part}" for name, part in parts.items()) or str(value)
