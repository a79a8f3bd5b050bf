"""Small systems, visited completely: N processes for certain bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, permutations, product
from typing import Any, NamedTuple

from fdverify.cutoff.formula import Shape
from fdverify.cutoff.rounds import CONSTRAINTS, DELIVERY, Choices, Computation, Configuration, Kind, Rule, SubRound
from fdverify.cutoff.running import Running
from fdverify.cutoff.template import CORRECT, CRASHED, Template, Temporal
from fdverify.errors import UsageError

_LARGEST = 3
"""How many processes are explored: more tell nothing new, and are many."""


class State(NamedTuple):
    """A configuration, stored: of pairs only those that are watched, in their order."""

    location: tuple[str, ...]
    active: tuple[bool, ...]
    idle: tuple[int, ...]
    received: tuple[Any, ...]
    value: tuple[Any, ...]
    buffer: tuple[Any, ...]


class Node(NamedTuple):
    """A state, and the sub-round that comes next."""

    following: int
    state: State


class Unwatched(Exception):
    """A pair of which nothing is stored was asked for."""


@dataclass(frozen=True)
class Found:
    """What the explorer found; ``complete`` unless the depth ended it."""

    holds: bool
    complete: bool
    states: int
    rounds: int
    run: tuple[Node, ...] = ()
    """To a configuration that violates the claim; if that can come back for ever, on until it does, from ``loop``."""
    loop: int | None = None
    processes: tuple[int, ...] = ()
    """The processes that the indexes of the claim stand for, where it fails."""
    dead_end: bool = False


SUB_ROUNDS = tuple(SubRound)


def check_bounds(processes: int, delta: int, phi: int) -> None:
    """Refuse what is no system, and one that is too large."""
    for name, value, least in (("processes", processes, 1), ("delta", delta, 0), ("phi", phi, 1)):
        if value < least:
            raise UsageError(f"--{name} must be at least {least}, got {value}")
    if processes > _LARGEST:
        raise UsageError(
            f"at most {_LARGEST} processes are explored, got {processes}", "the cutoff tells of all others"
        )


@dataclass
class Instance:
    """So many processes, under bounds and a model of computation.

    ``watched`` are the pairs (p, q) of which values are stored, with what was received and what is on its way from q to
    p.  Without the others nothing is lost for a property of these: the sub-rounds are never given what is not stored,
    and ask for it only where it decides about itself.  By default all pairs are stored.
    """

    template: Template
    processes: int
    delta: int
    phi: int
    computation: Computation = Computation.PARTIAL_SYNCHRONY
    watched: Sequence[tuple[int, int]] | None = None
    of: Running = field(init=False)

    def __post_init__(self) -> None:
        check_bounds(self.processes, self.delta, self.phi)
        self.indexes = range(1, self.processes + 1)
        everyone: list[tuple[int, int]] = [(p, q) for p in self.indexes for q in self.indexes]
        self.pairs = tuple(self.watched or everyone)
        self._place = {pair: place for place, pair in enumerate(self.pairs)}
        self.of = Running(self.template, self.delta, self.phi, forgets=DELIVERY in self.computation.imposes)

    def some(self, claim: Callable[[int], Any]) -> bool:
        return any(claim(p) for p in self.indexes)

    def first(self) -> Node:
        return Node(0, self.stored(self.template.rounds.begin(self.of, self.some)))

    def stored(self, c: Configuration) -> State:
        return State(
            tuple(c.location(p) for p in self.indexes),
            tuple(c.active(p) for p in self.indexes),
            tuple(c.idle(p) for p in self.indexes),
            tuple(c.received(p, q) for p, q in self.pairs),
            tuple(c.value(p, q) for p, q in self.pairs),
            tuple(c.buffer(q, p) for p, q in self.pairs),
        )

    def configuration(self, state: State) -> Configuration:
        def of_pair(values: tuple[Any, ...]) -> Callable[[int, int], Any]:
            def at(p: int, q: int) -> Any:
                place = self._place.get((p, q))
                if place is None:
                    raise Unwatched
                return values[place]

            return at

        buffer = of_pair(state.buffer)
        return Configuration(
            location=lambda p: state.location[p - 1],
            active=lambda p: state.active[p - 1],
            idle=lambda p: state.idle[p - 1],
            received=of_pair(state.received),
            value=of_pair(state.value),
            buffer=lambda s, r: buffer(r, s),
            some=self.some,
        )

    def successors(self, node: Node) -> list[Node]:
        """All nodes that one sub-round leads to."""
        sub_round = SUB_ROUNDS[node.following]
        before = self.configuration(node.state)
        following = (node.following + 1) % len(SUB_ROUNDS)
        found: dict[Node, None] = {}
        for chosen in self._choices(sub_round, node.state):
            step = self.template.rounds.step(sub_round, self.of, before, chosen)
            if all(self._holds(rule) for name, rule in step.rules.items() if self._in_force(name)):
                found.setdefault(Node(following, self.stored(step.after)))
        return list(found)

    def _in_force(self, rule: str) -> bool:
        return rule not in CONSTRAINTS or rule in self.computation.imposes

    def _holds(self, rule: Rule) -> bool:
        for p, q in product(self.indexes, repeat=2):
            try:
                if not rule(p, q):
                    return False
            except Unwatched:
                continue
        return True

    def _choices(self, sub_round: SubRound, state: State) -> Iterator[Choices]:
        idle = (False,) * self.processes
        nothing = dict.fromkeys(self.pairs, self.of.no_transit)
        if sub_round is SubRound.SCHEDULE:
            each = [
                ((False, False), (True, False), (False, True)) if at != CRASHED else ((False, False),)
                for at in state.location
            ]
            for decided in product(*each):
                yield self._made(tuple(crash for crash, _ in decided), tuple(runs for _, runs in decided), nothing)
        elif sub_round is SubRound.RECEIVE:
            receiving = [
                state.active[p - 1] and self.of.is_kind(state.location[p - 1], Kind.RECEIVE) for p in self.indexes
            ]
            each_part = [
                _parts(buffer) if receiving[p - 1] else (self.of.no_transit,)
                for (p, _), buffer in zip(self.pairs, state.buffer, strict=True)
            ]
            for parts in product(*each_part):
                yield self._made(idle, idle, dict(zip(self.pairs, parts, strict=True)))
        else:
            yield self._made(idle, idle, nothing)

    def _made(self, crash: tuple[bool, ...], runs: tuple[bool, ...], delivered: dict[tuple[int, int], Any]) -> Choices:
        def part(s: int, r: int) -> Any:
            if (r, s) not in delivered:
                raise Unwatched
            return delivered[r, s]

        return Choices(lambda p: crash[p - 1], lambda p: runs[p - 1], part)

    def truth_of(self, state: State, stand_for: dict[str, int]) -> Callable[[str, tuple[str, ...]], bool]:
        def found(predicate: str, indexes: tuple[str, ...]) -> bool:
            processes = tuple(stand_for[index] for index in indexes)
            if predicate == CORRECT:
                return state.location[processes[0] - 1] != CRASHED
            p, q = processes
            return bool(self.template.predicates[predicate](state.value[self._place[p, q]]))

        return found


def _parts(buffer: Any) -> tuple[Any, ...]:
    """Every subset, in an order that does not depend on hashes."""
    ordered = sorted(buffer, key=repr)
    sizes = range(len(ordered) + 1)
    return tuple(map(frozenset, chain.from_iterable(combinations(ordered, size) for size in sizes)))


def explore(instance: Instance, shape: Shape, depth: int | None = None, equal: bool = False) -> Found:
    """Whether the claim holds of all different processes of the instance, or of each with itself (``equal``)."""
    if shape.temporal is None:
        raise UsageError("the explorer decides only G and F G of what has no temporal operator")
    meant = _meant(instance, shape, equal)
    first = instance.first()
    before: dict[Node, Node | None] = {first: None}
    edges: dict[Node, list[Node]] = {}
    frontier, done = [first], 0
    while frontier:
        if shape.temporal is Temporal.ALWAYS:
            broken = next(_violations(instance, shape, meant, frontier), None)
            if broken is not None:
                node, processes = broken
                instance.of.check_functional()
                return Found(False, True, len(before), _rounds(done), _run(before, node), processes=processes)
        if depth is not None and done == len(SUB_ROUNDS) * depth:
            break
        found: list[Node] = []
        for node in frontier:
            edges[node] = instance.successors(node)
            for after in edges[node]:
                if after not in before:
                    before[after] = node
                    found.append(after)
        frontier, done = found, done + 1
    instance.of.check_functional()
    dead_end = not all(edges.values())
    if shape.temporal is Temporal.EVENTUALLY_ALWAYS:
        broken = _recurring(edges, _violations(instance, shape, meant, edges))
        if broken is not None:
            node, processes = broken
            run = _run(before, node)
            back = _way_back(edges, node)
            return Found(False, True, len(before), _rounds(done), (*run, *back), len(run) - 1, processes)
    return Found(True, not frontier, len(before), _rounds(done), dead_end=dead_end)


def _rounds(sub_rounds: int) -> int:
    return -(-sub_rounds // len(SUB_ROUNDS))


def _meant(instance: Instance, shape: Shape, equal: bool) -> list[dict[str, int]]:
    """The processes that the indexes may stand for: of those whose pairs are stored."""
    if equal or len(shape.indexes) == 1:
        candidates = [dict.fromkeys(shape.indexes, p) for p in instance.indexes]
    else:
        chosen = permutations(instance.indexes, len(shape.indexes))
        candidates = [dict(zip(shape.indexes, processes, strict=True)) for processes in chosen]
    pairs = [part.indexes for part in shape.formula.walk() if len(part.indexes) == 2]
    stored = set(instance.pairs)
    return [meant for meant in candidates if all((meant[p], meant[q]) in stored for p, q in pairs)]


def _violations(
    instance: Instance, shape: Shape, meant: list[dict[str, int]], nodes: Iterable[Node]
) -> Iterator[tuple[Node, tuple[int, ...]]]:
    for node in nodes:
        for processes in meant:
            if not shape.holds(instance.truth_of(node.state, processes)):
                yield node, tuple(processes.values())


def _run(before: dict[Node, Node | None], last: Node) -> tuple[Node, ...]:
    run, node = [last], before[last]
    while node is not None:
        run.append(node)
        node = before[node]
    return tuple(reversed(run))


def _recurring(
    edges: dict[Node, list[Node]], broken: Iterator[tuple[Node, tuple[int, ...]]]
) -> tuple[Node, tuple[int, ...]] | None:
    """A configuration that can come back for ever, of these."""
    from networkx import DiGraph, strongly_connected_components

    graph = DiGraph((node, after) for node, following in edges.items() for after in following)
    loops = [part for part in strongly_connected_components(graph) if len(part) > 1]
    recurring = set().union(*loops)
    return next((found for found in broken if found[0] in recurring), None)


def _way_back(edges: dict[Node, list[Node]], node: Node) -> list[Node]:
    """From a node to itself."""
    came: dict[Node, Node] = {}
    frontier = [node]
    while node not in came:
        found = []
        for at in frontier:
            for after in edges.get(at, ()):
                if after not in came:
                    came[after] = at
                    found.append(after)
        frontier = found
    way = [node]
    while came[way[-1]] != node:
        way.append(came[way[-1]])
    return way[::-1]


def in_words(instance: Instance, run: Sequence[Node]) -> list[dict[str, str]]:
    """A run as rows of a table: configurations between rounds, and the last one."""
    shown = [node for number, node in enumerate(run) if node.following == 0 or number == len(run) - 1]
    return [_row(instance, number, node) for number, node in enumerate(shown)]


def _row(instance: Instance, number: int, node: Node) -> dict[str, str]:
    state = node.state
    within = f" before {SUB_ROUNDS[node.following]}" if node.following else ""
    row = {"round": f"{number}{within}"}
    for p in instance.indexes:
        row[f"process {p}"] = state.location[p - 1]
        row[f"idle {p}"] = str(state.idle[p - 1])
    for (p, q), value, buffer in zip(instance.pairs, state.value, state.buffer, strict=True):
        row[f"{p} of {q}"] = _value_in_words(value)
        row[f"{q} to {p}"] = "{" + ", ".join(f"{message} {age}" for message, age in sorted(buffer, key=repr)) + "}"
    return row


def _value_in_words(value: Any) -> str:
    parts: dict[str, Any] = getattr(value, "_asdict", dict)()
    return ", ".join(f"{name} {part}" for name, part in parts.items()) or str(value)
