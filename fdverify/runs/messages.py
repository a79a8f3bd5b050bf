"""The messages of a run: a buffer contains only ages, so each message is followed from state to state here.

To see what a phase does to a message, the phase is run again on a buffer with that message alone; the result shows
where it went.  On an empty buffer the phase shows what it sends.  So nothing needs to be known about the phases, and a
message that is sent while another one has age 0 is noticed, although the set of ages does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fdverify.models.buffer import ColumnBuffer
from fdverify.models.participants import list_buffers
from fdverify.models.system import Phase, State, Subset, System
from fdverify.runs.concrete_interpreter import ChoiceValues, run_phase
from fdverify.runs.run import Trace


@dataclass
class Message:
    """One message, or several of the same age that can no longer be told apart; steps are row numbers."""

    buffer: str
    sent: int | None
    """The step in which it was sent; ``None`` if it was in transit when the run began."""
    ages: list[int] = field(default_factory=list)
    """Its age after each step in which it is in transit."""
    ended: int | None = None
    """The step in which it left the buffer; ``None`` if it is in transit at the end."""
    by: str | None = None
    """The choice that took it out of the buffer."""
    into: int | None = None
    """The number of the older message that stands for both since this one reached the same age."""


def follow_messages(trace: Trace, subrounds: bool) -> tuple[Message, ...]:
    """Follow the messages of all buffers; those of one buffer are in the order in which they were sent."""
    collected: list[Message] = []
    for buffer in list_buffers(trace.system):
        _follow_buffer(trace, buffer, subrounds, collected)
    return tuple(collected)


def _follow_buffer(trace: Trace, buffer: str, subrounds: bool, collected: list[Message]) -> None:
    transit = _Transit(trace.system, buffer, collected)
    transit.start_at(trace.initial)
    step, state = 0, trace.initial
    for traced in trace.rounds:
        last = len(traced.states) - 1
        for number, (phase, after) in enumerate(zip(trace.system.phases, traced.states, strict=False)):
            if subrounds or number == 0:
                step += 1
            transit.follow_phase(phase, traced.choices, state, after, step)
            state = after
            if subrounds or number == last:
                transit.record_ages()


class _Transit:
    """The messages of one buffer that are in transit, by age."""

    def __init__(self, system: System, buffer: str, collected: list[Message]) -> None:
        self._system = system
        self._buffer = buffer
        self._messages = collected
        self._at: dict[int, int] = {}
        self._only: dict[frozenset[int], ColumnBuffer] = {}
        """Buffers with one message or none; each is built once, since Δ is constant."""

    def start_at(self, state: State) -> None:
        for age in sorted(self._read_ages(state), reverse=True):
            self._at[age] = self._add_message(None)
        self.record_ages()

    def record_ages(self) -> None:
        for age, number in self._at.items():
            self._messages[number].ages.append(age)

    def follow_phase(self, phase: Phase, chosen: ChoiceValues, state: State, after: State, step: int) -> None:
        before, now = self._read_ages(state), self._read_ages(after)
        sent = (now and self._run_alone(phase, chosen, state, ())) or frozenset()
        if before == now and not sent:
            return
        left, self._at = self._at, {}
        for age in sorted(before, reverse=True):
            taken_by = self._find_taking_choice(phase, chosen, age)
            place = self._find_age_after(age, self._run_alone(phase, chosen, state, (age,)), sent, taken_by, now)
            if place is None:
                self._end_message(left[age], step, by=taken_by)
            else:
                self._place_message(left[age], place, step)
        for age in sorted({*(sent & now), *(now - set(self._at))}, reverse=True):
            self._place_message(self._add_message(step), age, step)

    def _find_age_after(
        self, age: int, alone: frozenset[int] | None, sent: frozenset[int], taken_by: str | None, now: frozenset[int]
    ) -> int | None:
        """Return the age of a message after a phase, from its effect on the message alone; ``None`` if it is gone."""
        if alone is None:  # the phase does not run on it alone, so only the set of ages can tell
            return age if age in now else None
        moved = (alone - sent) & now
        if moved:
            return max(moved)
        return age if age in alone & now and taken_by is None else None

    def _place_message(self, number: int, age: int, step: int) -> None:
        """Put a message at an age; if an older one is there, that one stands for both."""
        stands = self._at.setdefault(age, number)
        if stands != number:
            self._end_message(number, step, into=stands)

    def _add_message(self, step: int | None) -> int:
        self._messages.append(Message(self._buffer, step))
        return len(self._messages) - 1

    def _end_message(self, number: int, step: int, by: str | None = None, into: int | None = None) -> None:
        message = self._messages[number]
        message.ended, message.by, message.into = step, by, into

    def _read_ages(self, state: State) -> frozenset[int]:
        ages: frozenset[int] = state[self._buffer].ages()
        return ages

    def _find_taking_choice(self, phase: Phase, chosen: ChoiceValues, age: int) -> str | None:
        """Return the choice of this phase that contains an age."""
        return next(
            (choice.name for choice in self._list_subsets(phase) if age in _require_set(chosen[choice.name])), None
        )

    def _run_alone(
        self, phase: Phase, chosen: ChoiceValues, state: State, ages: Sequence[int]
    ) -> frozenset[int] | None:
        """Run the phase with only these ages in the buffer; return the ages after it, ``None`` if it cannot run."""
        kept = frozenset(ages)
        buffer = state[self._buffer]
        if kept not in self._only:
            self._only[kept] = type(buffer).from_ages(buffer.delta, kept)
        changed = state.changed({self._buffer: self._only[kept]})
        others = {choice.name: _require_set(chosen[choice.name]) & kept for choice in self._list_subsets(phase)}
        after = run_phase(self._system, phase, changed, {**chosen, **others})
        return None if after is None else self._read_ages(after)

    def _list_subsets(self, phase: Phase) -> list[Subset]:
        return [choice for choice in phase.choices if isinstance(choice, Subset) and choice.of == self._buffer]


def _require_set(chosen: bool | int | frozenset[int]) -> frozenset[int]:
    assert isinstance(chosen, frozenset), "a subset's value is a set of ages"
    return chosen
