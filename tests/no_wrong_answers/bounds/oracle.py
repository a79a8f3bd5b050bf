"""Numbers of an instance by plain breadth-first search: nothing of the package but the model's own functions is run.

A state is a tuple of Python values, a buffer a frozenset of ages.  What grows for ever is cut by hand, for each model
in the way that its phases allow.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any, TypeAlias

from fdverify.models.system import Ages, Flag, State, System

Node: TypeAlias = tuple[Any, ...]
Cut: TypeAlias = Mapping[str, Callable[[dict[str, Any]], Any]]
"""By variable, the value that stands for its value in a state."""


class Transit:
    """The messages in transit, with the questions that phases ask of a buffer."""

    def __init__(self, ages: frozenset[int], delta: int) -> None:
        self.held, self.delta = ages, delta

    def has(self, age: int) -> bool:
        return age in self.held

    def empty(self) -> bool:
        return not self.held

    def any(self, low: int, high: int) -> bool:
        return any(low <= age <= high for age in self.held)

    def send(self, when: bool) -> "Transit":
        return Transit(self.held | {0}, self.delta) if when else self

    def age(self, when: bool = True) -> "Transit":
        return Transit(frozenset(min(age + 1, self.delta) for age in self.held), self.delta) if when else self

    def deliver(self, delivered: "Transit") -> "Transit":
        return Transit(self.held - delivered.held, self.delta)


@dataclass(frozen=True)
class Instance:
    """A system at fixed parameters, with what it takes to go through its rounds."""

    system: System
    cut: Cut

    def view(self, node: Node) -> State:
        """The state as the model's functions see it."""
        parameters = self.system.compute_parameters()
        values: dict[str, Any] = dict(parameters)
        for variable, value in zip(self.system.variables, node, strict=True):
            is_buffer = isinstance(variable.sort, Ages)
            values[variable.name] = Transit(value, parameters[variable.sort.bound]) if is_buffer else value  # type: ignore[union-attr]
        return State(values)

    def node(self, values: Mapping[str, Any]) -> Node:
        plain = {v.name: values[v.name] for v in self.system.variables}
        plain = {name: value.held if isinstance(value, Transit) else value for name, value in plain.items()}
        plain |= {name: cut({**values, **plain}) for name, cut in self.cut.items() if name in plain}
        return tuple(int(value) if type(value) not in (bool, frozenset) else value for value in plain.values())

    def first(self) -> Node:
        parameters = State(self.system.compute_parameters())
        values = {v.name: v.initial(parameters) for v in self.system.variables}
        for variable in self.system.variables:
            if isinstance(variable.sort, Ages):
                values[variable.name] = frozenset(values[variable.name])
        return self.node({**parameters.values(), **values})

    def after(self, node: Node) -> set[Node]:
        """Every state after one round."""
        states = [self.view(node)]
        for phase in self.system.phases:
            states = [after for state in states for after in _ways(phase, state)]
        return {self.node(state.values()) for state in states}


def _ways(phase: Any, state: State) -> Iterator[State]:
    """The states after a phase, one for each of the choices that are allowed."""
    domains: list[list[Any]] = []
    for choice in phase.choices:
        free = choice.when(state)
        if isinstance(choice, Flag):
            domains.append([False, True] if free else [False])
        else:
            buffer = state[choice.of]
            held = sorted(buffer.held) if free else []
            sizes = range(len(held) + 1)
            some = chain.from_iterable(combinations(held, size) for size in sizes)
            domains.append([Transit(frozenset(each), buffer.delta) for each in some])
    names = [choice.name for choice in phase.choices]
    for values in product(*domains):
        made = phase.run(state, State(dict(zip(names, values, strict=True))))
        if made.assume:
            yield state.changed(made.changes)


@dataclass(frozen=True)
class Graph:
    """All reachable states, with the states after each; incomplete if one breaks what was claimed."""

    instance: Instance
    after: dict[Node, set[Node]]
    broken: Node | None

    def where(self, holds: Callable[[State], Any]) -> set[Node]:
        return {node for node in self.after if holds(self.instance.view(node))}

    def has_dead_end(self) -> bool:
        return any(not after for after in self.after.values())


def searched(instance: Instance, claim: Callable[[State], Any] | None = None) -> Graph:
    """Go through all states, breadth first, until one breaks the claim."""
    first = instance.first()
    after: dict[Node, set[Node]] = {}
    waiting, seen = deque([first]), {first}
    while waiting:
        node = waiting.popleft()
        if claim is not None and not claim(instance.view(node)):
            return Graph(instance, after, node)
        after[node] = instance.after(node)
        for each in after[node] - seen:
            seen.add(each)
            waiting.append(each)
    return Graph(instance, after, None)


def detection_time(graph: Graph) -> int | None:
    """From which round after a crash on it is suspected, whatever happens; ``None`` if from none on."""
    detector = graph.instance.system.detector
    assert detector is not None
    crashed = graph.where(lambda s: not detector.correct(s) and detector.is_stable(s))
    trusted = crashed - graph.where(detector.suspects)
    entered = {each for node, after in graph.after.items() if node not in crashed for each in after} & crashed
    at = frozenset(entered | (crashed & {graph.instance.first()}))
    seen: dict[frozenset[Node], int] = {}
    time, rounds = 0, 0
    while at not in seen:
        seen[at] = rounds
        rounds += 1
        if at & trusted:
            time = rounds
        at = frozenset(each for node in at for each in graph.after[node]) & crashed
    return None if time > seen[at] else time


def wrong_suspicions(graph: Graph, most: int) -> tuple[int, int]:
    """How many wrong suspicions begin in a run, and for how many rounds one lasts; counted up to ``most``."""
    detector = graph.instance.system.detector
    assert detector is not None
    wrong = graph.where(lambda s: detector.suspects(s) and detector.correct(s))
    # By state, the largest numbers with which it is reached: raised until nothing changes or all is counted.
    begun: dict[Node, int] = {graph.instance.first(): int(graph.instance.first() in wrong)}
    lasted = dict(begun)
    waiting = deque(begun)
    while waiting:
        node = waiting.popleft()
        for each in graph.after[node]:
            number = min(begun[node] + (each in wrong and node not in wrong), most)
            length = min(lasted[node] + 1, most) if each in wrong else 0
            if number > begun.get(each, -1) or length > lasted.get(each, -1):
                begun[each], lasted[each] = max(number, begun.get(each, -1)), max(length, lasted.get(each, -1))
                waiting.append(each)
    return max(begun.values()), max(lasted.values())
