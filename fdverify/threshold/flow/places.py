"""The locations of the threshold automaton: a status, with a memory of what was received.

It suffices that processes receive as little as possible: for each counter, the largest lower bound of the steps taken.
Such a process can take every step that a process with more messages can take.  So only these lower bounds are
remembered, and only where they may disable a later step.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.claims.normal import all_of
from fdverify.threshold.flow.arcs import Arc, Received, at_most, less_than
from fdverify.threshold.flow.automaton import FAIR, NEW_VALUE, STATUS, ControlFlow
from fdverify.threshold.flow.memory import needed_memory, never_more
from fdverify.threshold.formula import Formula, Linear
from fdverify.threshold.text.write import linear_text

_MOST_PLACES = 500
_LONGEST_NAME = 40

Memory = tuple[tuple[str, tuple[Linear, ...]], ...]
"""For some counters, numbers whose maximum was received; the other counters do not matter."""


@dataclass(frozen=True)
class Place:
    status: str
    memory: Memory = ()


@dataclass(frozen=True)
class Passage:
    """A step between locations, under a guard."""

    source: Place
    target: Place
    guard: Formula
    adds: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Layout:
    names: Mapping[Place, str]
    passages: tuple[Passage, ...]

    @property
    def remembers(self) -> bool:
        """Whether a location remembers something."""
        return any(place.memory for place in self.names)

    def of_status(self, status: str) -> list[str]:
        """List the locations with a status."""
        return [name for place, name in self.names.items() if place.status == status]


def lay_out(flow: ControlFlow, rules: Sequence[Arc]) -> Layout:
    """Compute the locations that are reachable by steps with an effect; every status also has one without memory."""
    needed = needed_memory(flow, rules)
    reached = [Place(status) for status in flow.initial]
    seen = set(reached)
    passages: dict[tuple[int, int], Passage] = {}
    for position, place in enumerate(reached):  # the list grows meanwhile
        for number, arc in enumerate(rules):
            if arc.source == place.status:
                passages[number, position] = passage = pass_along(arc, place, needed[arc.target])
                if passage.target not in seen:
                    seen.add(passage.target)
                    reached.append(passage.target)
        if len(reached) > _MOST_PLACES:
            raise UsageError(
                f"{flow.name}: there are more than {_MOST_PLACES} locations, because of what processes have received"
            )
    remembering = [place for place in reached if place.memory]
    names = _named(flow, [*(Place(status) for status in flow.statuses), *remembering])
    return Layout(names, tuple(dict.fromkeys(passages[key] for key in sorted(passages))))


def pass_along(arc: Arc, place: Place, remembered: set[str]) -> Passage:
    """Build the step from a location; its target remembers these counters."""
    memory = remember(arc, place.memory)
    claims = [claim for counter, received in arc.received for claim in possible(received, memory[counter])]
    kept = tuple((counter, memory[counter]) for counter in sorted(memory) if counter in remembered and memory[counter])
    return Passage(place, Place(arc.target, kept), all_of(dict.fromkeys(claims)), arc.adds)


def remember(arc: Arc, memory: Memory) -> dict[str, tuple[Linear, ...]]:
    """Return the lower bounds on the counters after a step."""
    bounds = dict(memory)
    for counter, received in arc.received:
        bounds[counter] = _largest((*bounds.get(counter, ()), *received.at_least))
    return bounds


def possible(received: Received, numbers: Sequence[Linear]) -> Iterator[Formula]:
    """State that the largest of these numbers, or 0, can be received."""
    for number in (*numbers, Linear()):
        yield at_most(number, received.bound)
    for number in (*numbers, Linear()):
        for limit in received.below:
            yield less_than(number, limit)


def _largest(numbers: Iterable[Linear]) -> tuple[Linear, ...]:
    """Drop numbers that are never more than another one, or than 0."""
    maximal: list[Linear] = []
    for number in dict.fromkeys(numbers):
        if not any(never_more(number, other) for other in (*maximal, Linear())):
            maximal = [other for other in maximal if not never_more(other, number)] + [number]
    return tuple(sorted(maximal, key=lambda number: (number.factors, number.constant)))


def free_name(wanted: str, taken: Container[str]) -> str:
    """Return a name that is not taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _named(flow: ControlFlow, places: Iterable[Place]) -> dict[Place, str]:
    """Name the locations: after the status, and after the numbers that are remembered."""
    taken = {STATUS, NEW_VALUE, FAIR, *flow.parameters, *flow.shared, *flow.statuses, *flow.due}
    names: dict[Place, str] = {}
    for place in places:
        names[place] = free_name(_described(place), taken) if place.memory else place.status
        taken.add(names[place])
    return names


def _described(place: Place) -> str:
    remembered = [f"{counter} {linear_text(number)}" for counter, numbers in place.memory for number in numbers]
    text = " ".join([place.status, *remembered])
    for sign, word in (("+", "plus"), ("-", "minus "), ("*", "times")):
        text = text.replace(sign, word)
    described = "_".join(text.split())
    return described if len(described) <= _LONGEST_NAME else f"{place.status}_"
