"""The interpretation by Python values: a buffer is a set of pairs of a message and its age."""

from __future__ import annotations

from typing import Any, TypeAlias

from fdverify.cutoff.rounds import Interpretation, Kind
from fdverify.cutoff.template import CRASHED, Location, Template

Messages: TypeAlias = frozenset[Any]
Transit: TypeAlias = frozenset[tuple[Any, int]]


class ConcreteInterpretation(Interpretation):
    """A template under bounds Δ and Φ.

    (PS2) here means that a correct process is active at least once in any Φ consecutive rounds.  With ``forgets``, ages
    are capped at Δ, or at 1 if Δ is 0.  The cap is exact under (PS1): messages of age Δ or more are delivered together.
    """

    crashed = CRASHED
    no_messages: Messages = frozenset()
    no_transit: Transit = frozenset()

    def __init__(self, template: Template, delta: int, phi: int, forgets: bool) -> None:
        self.template = template
        self.start, self.start_value = template.start, template.start_value
        self.delta, self.longest_rest = delta, phi - 1
        self._oldest = max(delta, 1) if forgets else None
        self._values: dict[tuple[Location, Messages, Any], Any] = {}

    def is_kind(self, location: Location, kind: Kind) -> bool:
        return (Kind.CRASHED if location == CRASHED else self.template.locations[location]) is kind

    def next_location(self, location: Location) -> Location:
        following: Location = self.template.next_location(location)
        return following

    def generate_message(self, location: Location) -> Any:
        return self.template.generate_message(location)

    def next_value(self, location: Location, messages: Messages, value: Any) -> Any:
        key = (location, messages, value)
        if key not in self._values:
            self._values[key] = self.template.compute_value(location, messages, value)
        return self._values[key]

    def check_determinism(self) -> None:
        """Refuse a ``next_value`` with state or randomness: evaluate all known arguments again, in reverse order."""
        for key, known in reversed(self._values.items()):
            if self.template.next_value(*key) != known:
                location, _, value = key
                raise self.template.build_nondeterminism_error(location, value)

    def joined(self, messages: Messages, more: Messages) -> Messages:
        return messages | more

    def aged(self, buffer: Transit) -> Transit:
        if self._oldest is None:
            return frozenset((message, age + 1) for message, age in buffer)
        return frozenset((message, min(age + 1, self._oldest)) for message, age in buffer)

    def may_take(self, buffer: Transit, message: Any) -> bool:
        return (message, 0) not in buffer

    def with_fresh(self, buffer: Transit, message: Any) -> Transit:
        return buffer | {(message, 0)}

    def within(self, part: Transit, buffer: Transit) -> bool:
        return part <= buffer

    def without(self, buffer: Transit, part: Transit) -> Transit:
        return buffer - part

    def contents(self, part: Transit) -> Messages:
        return frozenset(message for message, _ in part)

    def overdue(self, buffer: Transit) -> bool:
        return any(age >= self.delta for _, age in buffer)
