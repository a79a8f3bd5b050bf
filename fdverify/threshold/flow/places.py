"""Locations: a status, and of what was received as much as must be remembered.

Processes receive as little as they can: of a counter the largest number that some step has needed.  Whatever steps a
process takes that receives more, one that receives as little can take, too.  So only those numbers are remembered, and
only where a later step may be hindered by them.
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
"""Of some counters, numbers of which the largest was received; of all others it does not matter."""


@dataclass(frozen=True)
class Place:
    status: str
    memory: Memory = ()


@dataclass(frozen=True)
class Passage:
    """A step between places, where its guard holds."""

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
        """Whether there is a place that remembers something."""
        return any(place.memory for place in self.names)

    def of_status(self, status: str) -> list[str]:
        """The locations of processes that have a status."""
        return [name for place, name in self.names.items() if place.status == status]


def lay_out(flow: ControlFlow, rules: Sequence[Arc]) -> Layout:
    """All places that processes can come to by steps with an effect; each status has one without a memory."""
    needed = needed_memory(flow, rules)
    reached = [Place(status) for status in flow.initial]
    seen = set(reached)
    passages: dict[tuple[int, int], Passage] = {}
    for at, place in enumerate(reached):  # which grows
        for number, arc in enumerate(rules):
            if arc.source == place.status:
                passages[number, at] = passage = pass_along(arc, place, needed[arc.target])
                if passage.target not in seen:
                    seen.add(passage.target)
                    reached.append(passage.target)
        if len(reached) > _MOST_PLACES:
            raise UsageError(f"{flow.name}: what processes have received matters in more than {_MOST_PLACES} ways")
    remembering = [place for place in reached if place.memory]
    names = _named(flow, [*(Place(status) for status in flow.statuses), *remembering])
    return Layout(names, tuple(dict.fromkeys(passages[key] for key in sorted(passages))))


def pass_along(arc: Arc, place: Place, remembered: set[str]) -> Passage:
    """A step from a place, to one where these counters are remembered."""
    memory = remember(arc, place.memory)
    claims = [claim for counter, received in arc.received for claim in possible(received, memory[counter])]
    kept = tuple((counter, memory[counter]) for counter in sorted(memory) if counter in remembered and memory[counter])
    return Passage(place, Place(arc.target, kept), all_of(dict.fromkeys(claims)), arc.adds)


def remember(arc: Arc, memory: Memory) -> dict[str, tuple[Linear, ...]]:
    """What is received at least, after a step."""
    found = dict(memory)
    for counter, received in arc.received:
        found[counter] = _largest((*found.get(counter, ()), *received.at_least))
    return found


def possible(received: Received, numbers: Sequence[Linear]) -> Iterator[Formula]:
    """That the largest of these numbers, or 0, can be received."""
    for number in (*numbers, Linear()):
        yield at_most(number, received.bound)
    for number in (*numbers, Linear()):
        for limit in received.below:
            yield less_than(number, limit)


def _largest(numbers: Iterable[Linear]) -> tuple[Linear, ...]:
    """The numbers of which one may be the largest."""
    found: list[Linear] = []
    for number in dict.fromkeys(numbers):
        if not any(never_more(number, other) for other in (*found, Linear())):
            found = [other for other in found if not never_more(other, number)] + [number]
    return tuple(sorted(found, key=lambda number: (number.factors, number.constant)))


def free_name(wanted: str, taken: Container[str]) -> str:
    """A name that nothing has yet."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _named(flow: ControlFlow, places: Iterable[Place]) -> dict[Place, str]:
    """A status without a memory keeps its name; one that remembers r >= N - T is called after that."""
    taken = {STATUS, NEW_VALUE, FAIR, *flow.parameters, *flow.shared, *flow.statuses, *flow.due}
    found: dict[Place, str] = {}
    for place in places:
        found[place] = free_name(_described(place), taken) if place.memory else place.status
        taken.add(found[place])
    return found


def _described(place: Place) -> str:
    remembered = [f"{counter} {linear_text(each)}" for counter, numbers in place.memory for each in numbers]
    text = " ".join([place.status, *remembered])
    for sign, word in (("+", "plus"), ("-", "minus "), ("*", "times")):
        text = text.replace(sign, word)
    described = "_".join(text.split())
    return described if len(described) <= _LONGEST_NAME else f"{place.status}_"
