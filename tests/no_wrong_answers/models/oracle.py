"""An explicit-state search written for these tests: it calls a model's own functions, and nothing of the engines.

States are tuples of plain values, buffers are sets of ages, and a round is what the modelling guide says it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

from tests.no_wrong_answers.models.values import AgeSet, Record, subsets

Plain: TypeAlias = tuple[Any, ...]
"""The variables' values in the order of their declaration: truth values, integers, sets of ages."""

HORIZON = 40
"""How far clocks are told apart; no claim of these tests speaks of a later time."""


class Instance:
    """A system at certain parameters."""

    def __init__(self, system: Any, chosen: Mapping[str, int]) -> None:
        self.system = system
        self.parameters: dict[str, int] = {}
        for parameter in system.parameters:
            value = chosen[parameter.name] if parameter.value is None else parameter.value
            if not isinstance(value, int):  # an expression over the parameters before it, in Python's own grammar
                value = eval(str(value), {"__builtins__": {}}, {"min": min, "max": max, **self.parameters})
            self.parameters[parameter.name] = value
        self.variables = system.variables
        self._places = {variable.name: place for place, variable in enumerate(self.variables)}

    def is_admissible(self) -> bool:
        """Whether the parameters are large enough and satisfy what is assumed of them."""
        enough = all(self.parameters[parameter.name] >= parameter.least for parameter in self.system.parameters)
        return enough and all(each.holds(Record(self.parameters)) for each in self.system.assumptions)

    def initial(self) -> Plain:
        parameters = Record(self.parameters)
        return tuple(self._stored(variable, variable.initial(parameters)) for variable in self.variables)

    def record(self, state: Plain) -> Record:
        values: dict[str, Any] = dict(self.parameters)
        for variable, value in zip(self.variables, state, strict=True):
            values[variable.name] = AgeSet(self._delta(variable), value) if is_buffer(variable) else value
        return Record(values)

    def after_phase(self, phase: Any, state: Plain) -> set[Plain]:
        """The states that the phase leads to, under every choice that is possible."""
        record = self.record(state)
        names = [choice.name for choice in phase.choices]
        found = set()
        for picked in product(*(self._domain(choice, record) for choice in phase.choices)):
            made = phase.run(record, Record(dict(zip(names, picked, strict=True))))
            if made.assume:
                after = list(state)
                for name, value in made.changes.items():
                    after[self._places[name]] = self._stored(self.variables[self._places[name]], value)
                found.add(tuple(after))
        return found

    def after(self, phases: Sequence[Any], state: Plain) -> set[Plain]:
        found = {state}
        for phase in phases:
            found = {after for each in found for after in self.after_phase(phase, each)}
        return found

    def after_round(self, state: Plain) -> set[Plain]:
        return self.after(self.system.phases, state)

    def holds(self, claim: Any, state: Plain) -> bool:
        return bool(claim.holds(self.record(state)))

    def in_ranges(self, state: Plain) -> bool:
        """Whether every variable is in its declared range."""
        record = self.record(state)
        return all(v.range is None or v.range(record) for v in self.variables)

    def visible(self, state: Plain) -> Plain:
        """The state without its ghosts."""
        return tuple(value for v, value in zip(self.variables, state, strict=True) if not v.ghost)

    def cut(self, state: Plain) -> Plain:
        """The state with what grows for ever cut off where nothing depends on it."""
        record = self.record(state)
        caps = [HORIZON if v.clock else v.cap(record) if v.cap is not None else None for v in self.variables]
        return tuple(value if cap is None else min(value, cap) for value, cap in zip(state, caps, strict=True))

    def box(self, least: int, most: int) -> Iterator[Plain]:
        """All states in the declared ranges whose integers are between ``least`` and ``most``."""
        for state in product(*(self._values(variable, least, most) for variable in self.variables)):
            if self.in_ranges(state):
                yield state

    def _values(self, variable: Any, least: int, most: int) -> list[Any]:
        match type(variable.sort).__name__:
            case "Flags":
                return [False, True]
            case "Labels":
                return list(variable.sort.names)
            case "Ages":
                return subsets(range(self._delta(variable) + 1))
            case _:
                return list(range(least, most + 1))

    def _domain(self, choice: Any, record: Record) -> list[Any]:
        if hasattr(choice, "low"):
            return list(range(choice.low(record), choice.high(record) + 1))
        possible = choice.when(record)
        if not hasattr(choice, "of"):
            return [False, True] if possible else [False]
        buffer = record[choice.of]
        return [AgeSet(buffer.delta, ages) for ages in subsets(buffer.members if possible else ())]

    def _delta(self, variable: Any) -> int:
        return self.parameters[variable.sort.bound]

    def _stored(self, variable: Any, value: Any) -> Any:
        """The value as it is kept, if it is of the variable's sort."""
        match type(variable.sort).__name__:
            case "Flags":
                fits = isinstance(value, bool)
            case "Ages":
                value = frozenset(value.members if isinstance(value, AgeSet) else value)
                fits = all(0 <= age <= self._delta(variable) for age in value)
            case "Labels":
                value = variable.sort.names(value)  # a value that is none of them is an error
                fits = True
            case _:
                fits = isinstance(value, int) and not isinstance(value, bool)
        if not fits:
            raise ValueError(f"{variable.name} is set to {value!r}, which is of another sort")
        return value


def is_buffer(variable: Any) -> bool:
    return type(variable.sort).__name__ == "Ages"


@dataclass
class Search:
    """The reachable states, level by level, in steps of a round or, at ``subrounds``, of a phase."""

    instance: Instance
    claim: Any
    subrounds: bool = False
    most_states: int = 20_000
    levels: list[set[Plain]] = field(default_factory=list)
    violation: int | None = None
    """After how many steps the claim is first false."""
    dead_end: int | None = None
    """After how many steps a state is first reached that no step leads out of."""
    complete: bool = False

    def run(self, depth: int | None = None, past_violation: bool = False) -> Search:
        """Search until nothing is new, and unless ``past_violation`` until the claim is false."""
        phases = self.instance.system.phases
        steps = [[phase] for phase in phases] if self.subrounds else [list(phases)]
        seen: list[set[Plain]] = [set() for _ in steps]
        level = {self.instance.cut(self.instance.initial())}
        while level:
            seen[len(self.levels) % len(steps)] |= level
            self.levels.append(level)
            if self.violation is None and not all(self.instance.holds(self.claim, state) for state in level):
                self.violation = len(self.levels) - 1
            if self.violation is not None and not past_violation:
                return self
            if sum(map(len, seen)) > self.most_states or (depth is not None and len(self.levels) > depth):
                return self
            following: set[Plain] = set()
            for state in level:
                after = self.instance.after(steps[(len(self.levels) - 1) % len(steps)], state)
                if not after and self.dead_end is None:
                    self.dead_end = len(self.levels) - 1
                following |= {self.instance.cut(each) for each in after}
            level = following - seen[len(self.levels) % len(steps)]
        self.complete = True
        return self

    def states(self) -> int:
        """How many states were met, those of different phases apart, ghosts left out."""
        return sum(len(each) for each in self._visible())

    def depth(self) -> int:
        """The number of levels up to the last one with a state that differs from all before in more than ghosts."""
        tables: list[set[Plain]] = [set() for _ in self._visible()]
        last = 0
        for number, level in enumerate(self.levels):
            new = {self.instance.visible(state) for state in level} - tables[number % len(tables)]
            tables[number % len(tables)] |= new
            last = number + 1 if new else last
        return last

    def reached(self) -> set[Plain]:
        return set().union(*self.levels)

    def _visible(self) -> list[set[Plain]]:
        steps = len(self.instance.system.phases) if self.subrounds else 1
        found: list[set[Plain]] = [set() for _ in range(steps)]
        for number, level in enumerate(self.levels):
            found[number % steps] |= {self.instance.visible(state) for state in level}
        return found


def has_run(instance: Instance, rounds: int) -> bool:
    """Whether there is a run of so many rounds."""
    level = {instance.cut(instance.initial())}
    for _ in range(rounds):
        level = {instance.cut(after) for state in level for after in instance.after_round(state)}
    return bool(level)


@dataclass(frozen=True)
class Induction:
    """What is so of conjuncts among all states of a box."""

    initially: bool
    """They hold in the first k states of every run."""
    preserved: bool
    """They hold after every k states in a row in which they hold."""
    implies_goal: bool
    stuck: bool
    """They hold in a state that no round leads out of."""

    @property
    def is_proof(self) -> bool:
        return self.initially and self.preserved and self.implies_goal


def induction(instance: Instance, conjuncts: Sequence[Any], goal: Any, least: int, most: int, k: int = 1) -> Induction:
    """Whether ranges and conjuncts are k-inductive and imply the goal, by looking at every state in the ranges."""

    def inside(state: Plain) -> bool:
        return instance.in_ranges(state) and all(instance.holds(each, state) for each in conjuncts)

    start, initially = {instance.initial()}, True
    for number in range(k):
        initially = initially and all(inside(state) for state in start)
        if number + 1 < k:
            start = {after for state in start for after in instance.after_round(state)}
    good = {state for state in instance.box(least, most) if inside(state)}
    following = {state: instance.after_round(state) for state in good}
    row = good
    for _ in range(k - 1):
        row = {after for state in row for after in following[state]} & good
    preserved = all(inside(after) for state in row for after in following[state])
    return Induction(
        initially,
        preserved,
        all(instance.holds(goal, state) for state in good),
        not all(following.values()),
    )
