"""Messages of a run: a buffer tells the ages in transit, and here each message is followed from state to state.

What a phase does to a message is found out by running it once more on a buffer with that message alone: where it is
then is where it went.  On an empty buffer the phase shows what it sends.  So nothing has to be known of the phases, and
a message that is sent while another one has age 0 is noticed, although the set of ages does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fdverify.models.buffer import ColumnBuffer
from fdverify.models.cast import buffers
from fdverify.models.interpret import Made, run_phase
from fdverify.models.system import Phase, State, Subset, System
from fdverify.traces.run import Trace


@dataclass
class Message:
    """One message, or several of the same age which nothing tells apart any more; steps are numbers of rows."""

    buffer: str
    sent: int | None
    """The step in which it was sent; ``None``: it was in transit when the run began."""
    ages: list[int] = field(default_factory=list)
    """Its age after each step, from the one in which it was sent, or the first, to the last in which it is there."""
    ended: int | None = None
    """The step in which it is there no more; ``None``: it is in transit at the end."""
    by: str | None = None
    """The choice that took it out of the buffer."""
    into: int | None = None
    """If it came to be of the same age as an older message: the number of that one, which stands for both from then."""


def messages(trace: Trace, subrounds: bool) -> tuple[Message, ...]:
    """The messages of all buffers, each buffer's in the order in which they were sent."""
    found: list[Message] = []
    for buffer in buffers(trace.system):
        _follow(trace, buffer, subrounds, found)
    return tuple(found)


def _follow(trace: Trace, buffer: str, subrounds: bool, found: list[Message]) -> None:
    transit = _Transit(trace.system, buffer, found)
    transit.begin(trace.initial)
    step, state = 0, trace.initial
    for traced in trace.rounds:
        last = len(traced.states) - 1
        for number, (phase, after) in enumerate(zip(trace.system.phases, traced.states, strict=False)):
            if subrounds or number == 0:
                step += 1
            transit.go_through(phase, traced.made, state, after, step)
            state = after
            if subrounds or number == last:
                transit.note_ages()


class _Transit:
    """The messages of one buffer that are in transit, each by its age."""

    def __init__(self, system: System, buffer: str, found: list[Message]) -> None:
        self._system = system
        self._buffer = buffer
        self._found = found
        self._at: dict[int, int] = {}
        self._only: dict[frozenset[int], ColumnBuffer] = {}
        """Buffers with one message, or none: made once, since Δ stays the same."""

    def begin(self, state: State) -> None:
        for age in sorted(self._ages(state), reverse=True):
            self._at[age] = self._new(None)
        self.note_ages()

    def note_ages(self) -> None:
        for age, number in self._at.items():
            self._found[number].ages.append(age)

    def go_through(self, phase: Phase, made: Made, state: State, after: State, step: int) -> None:
        before, now = self._ages(state), self._ages(after)
        sent = (now and self._alone(phase, made, state, ())) or frozenset()
        if before == now and not sent:
            return
        left, self._at = self._at, {}
        for age in sorted(before, reverse=True):
            taken_by = self._taken_by(phase, made, age)
            place = self._place(age, self._alone(phase, made, state, (age,)), sent, taken_by, now)
            if place is None:
                self._end(left[age], step, by=taken_by)
            else:
                self._put(left[age], place, step)
        for age in sorted({*(sent & now), *(now - set(self._at))}, reverse=True):
            self._put(self._new(step), age, step)

    def _place(
        self, age: int, alone: frozenset[int] | None, sent: frozenset[int], taken_by: str | None, now: frozenset[int]
    ) -> int | None:
        """Where a message of this age is after a phase that leaves so much of it alone; ``None``: nowhere."""
        if alone is None:  # the phase does not run without the others, so only their ages can tell
            return age if age in now else None
        moved = (alone - sent) & now
        if moved:
            return max(moved)
        return age if age in alone & now and taken_by is None else None

    def _put(self, number: int, age: int, step: int) -> None:
        """At one age there is one message, the oldest: it stands for all that come to be of its age."""
        stands = self._at.setdefault(age, number)
        if stands != number:
            self._end(number, step, into=stands)

    def _new(self, step: int | None) -> int:
        self._found.append(Message(self._buffer, step))
        return len(self._found) - 1

    def _end(self, number: int, step: int, by: str | None = None, into: int | None = None) -> None:
        message = self._found[number]
        message.ended, message.by, message.into = step, by, into

    def _ages(self, state: State) -> frozenset[int]:
        ages: frozenset[int] = state[self._buffer].ages()
        return ages

    def _taken_by(self, phase: Phase, made: Made, age: int) -> str | None:
        """The choice of this phase that an age is in."""
        return next((choice.name for choice in self._subsets(phase) if age in _set(made[choice.name])), None)

    def _alone(self, phase: Phase, made: Made, state: State, ages: Sequence[int]) -> frozenset[int] | None:
        """What the phase makes of the buffer if these ages are all that is in it; ``None`` if it then cannot run."""
        kept = frozenset(ages)
        buffer = state[self._buffer]
        if kept not in self._only:
            self._only[kept] = type(buffer).of(buffer.delta, kept)
        changed = state.changed({self._buffer: self._only[kept]})
        others = {choice.name: _set(made[choice.name]) & kept for choice in self._subsets(phase)}
        after = run_phase(self._system, phase, changed, {**made, **others})
        return None if after is None else self._ages(after)

    def _subsets(self, phase: Phase) -> list[Subset]:
        return [choice for choice in phase.choices if isinstance(choice, Subset) and choice.of == self._buffer]


def _set(chosen: bool | frozenset[int]) -> frozenset[int]:
    assert isinstance(chosen, frozenset), "a subset's value is a set of ages"
    return chosen
