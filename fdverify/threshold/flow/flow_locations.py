"""The locations of the threshold automaton: a status, with a memory of what was received.

It suffices that processes receive as little as possible: for each counter, the largest lower bound of the steps taken.
Such a process can take every step that a process with more messages can take.  So only these lower bounds are
remembered, and only where they may disable a later step.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.claims.nnf import conjoin_all
from fdverify.threshold.flow.arcs import Arc, ReceptionConstraint, at_most, less_than
from fdverify.threshold.flow.control_flow import FAIR, NEW_VALUE, STATUS, ControlFlow
from fdverify.threshold.flow.reception_history import compute_needed_memory, is_never_more
from fdverify.threshold.ltl_formula import Formula, LinearExpression
from fdverify.threshold.text.write import format_linear

_MOST_PLACES = 500
_LONGEST_NAME = 40

Memory = tuple[tuple[str, tuple[LinearExpression, ...]], ...]
"""For some counters, numbers whose maximum was received; the other counters do not matter."""


@dataclass(frozen=True)
class FlowLocation:
    status: str
    memory: Memory = ()


@dataclass(frozen=True)
class FlowRule:
    """A step between locations, under a guard."""

    source: FlowLocation
    target: FlowLocation
    guard: Formula
    adds: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class FlowLayout:
    names: Mapping[FlowLocation, str]
    rules: tuple[FlowRule, ...]

    @property
    def remembers(self) -> bool:
        """Whether a location remembers something."""
        return any(place.memory for place in self.names)

    def list_locations(self, status: str) -> list[str]:
        """List the locations with a status."""
        return [name for place, name in self.names.items() if place.status == status]


def compute_layout(flow: ControlFlow, rules: Sequence[Arc]) -> FlowLayout:
    """Compute the locations that are reachable by steps with an effect; every status also has one without memory."""
    needed = compute_needed_memory(flow, rules)
    reached = [FlowLocation(status) for status in flow.initial]
    seen = set(reached)
    passages: dict[tuple[int, int], FlowRule] = {}
    for position, place in enumerate(reached):  # the list grows meanwhile
        for number, arc in enumerate(rules):
            if arc.source == place.status:
                passages[number, position] = passage = build_flow_rule(arc, place, needed[arc.target])
                if passage.target not in seen:
                    seen.add(passage.target)
                    reached.append(passage.target)
        if len(reached) > _MOST_PLACES:
            raise UsageError(
                f"{flow.name}: there are more than {_MOST_PLACES} locations, because of what processes have received"
            )
    remembering = [place for place in reached if place.memory]
    names = _name_locations(flow, [*(FlowLocation(status) for status in flow.statuses), *remembering])
    return FlowLayout(names, tuple(dict.fromkeys(passages[key] for key in sorted(passages))))


def build_flow_rule(arc: Arc, place: FlowLocation, remembered: set[str]) -> FlowRule:
    """Build the step from a location; its target remembers these counters."""
    memory = update_memory(arc, place.memory)
    claims = [
        claim for counter, received in arc.received for claim in list_reception_conditions(received, memory[counter])
    ]
    kept = tuple((counter, memory[counter]) for counter in sorted(memory) if counter in remembered and memory[counter])
    return FlowRule(place, FlowLocation(arc.target, kept), conjoin_all(dict.fromkeys(claims)), arc.adds)


def update_memory(arc: Arc, memory: Memory) -> dict[str, tuple[LinearExpression, ...]]:
    """Return the lower bounds on the counters after a step."""
    bounds = dict(memory)
    for counter, received in arc.received:
        bounds[counter] = _keep_maximal((*bounds.get(counter, ()), *received.at_least))
    return bounds


def list_reception_conditions(received: ReceptionConstraint, numbers: Sequence[LinearExpression]) -> Iterator[Formula]:
    """State that the largest of these numbers, or 0, can be received."""
    for number in (*numbers, LinearExpression()):
        yield at_most(number, received.bound)
    for number in (*numbers, LinearExpression()):
        for limit in received.below:
            yield less_than(number, limit)


def _keep_maximal(numbers: Iterable[LinearExpression]) -> tuple[LinearExpression, ...]:
    """Drop numbers that are never more than another one, or than 0."""
    maximal: list[LinearExpression] = []
    for number in dict.fromkeys(numbers):
        if not any(is_never_more(number, other) for other in (*maximal, LinearExpression())):
            maximal = [other for other in maximal if not is_never_more(other, number)] + [number]
    return tuple(sorted(maximal, key=lambda number: (number.factors, number.constant)))


def find_free_name(wanted: str, taken: Container[str]) -> str:
    """Return a name that is not taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _name_locations(flow: ControlFlow, places: Iterable[FlowLocation]) -> dict[FlowLocation, str]:
    """Name the locations: after the status, and after the numbers that are remembered."""
    taken = {STATUS, NEW_VALUE, FAIR, *flow.parameters, *flow.shared, *flow.statuses, *flow.due}
    names: dict[FlowLocation, str] = {}
    for place in places:
        names[place] = find_free_name(_describe_location(place), taken) if place.memory else place.status
        taken.add(names[place])
    return names


def _describe_location(place: FlowLocation) -> str:
    remembered = [f"{counter} {format_linear(number)}" for counter, numbers in place.memory for number in numbers]
    text = " ".join([place.status, *remembered])
    for sign, word in (("+", "plus"), ("-", "minus "), ("*", "times")):
        text = text.replace(sign, word)
    described = "_".join(text.split())
    return described if len(described) <= _LONGEST_NAME else f"{place.status}_"
