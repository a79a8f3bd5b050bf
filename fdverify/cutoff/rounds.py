"""The semantics of a global round: its four sub-rounds, defined once for exploration and for the lemmas.

A configuration consists of functions of process indexes.  A sub-round returns the next configuration, together with
rules that must hold for all pairs of indexes.  An interpretation says what locations, values, messages and buffers are:
Python values when a small system is explored, a solver's symbols in the lemmas, which hold for every template and every
number of processes.  Nothing here names a particular index or counts the processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import And, If, Implies, Not, Number, Or, Truth, shorten_value

Index: TypeAlias = Any
OfOne: TypeAlias = Callable[[Index], Any]
OfTwo: TypeAlias = Callable[[Index, Index], Any]
Rule: TypeAlias = Callable[[Index, Index], Truth]


class Kind(StrEnum):
    """The kind of a location: what a process does there."""

    SEND = "send"
    RECEIVE = "receive"
    COMPUTE = "compute"
    CRASHED = "crashed"


class SubRound(StrEnum):
    SCHEDULE = "schedule"
    SEND = "send"
    RECEIVE = "receive"
    COMPUTE = "compute"


DELIVERY, SPEED, LOCKSTEP, ALONE = "ps1", "ps2", "synchrony", "asynchrony"
"""The constraints of models of computation: (PS1), (PS2), all correct processes active, at most one active."""


class ComputationModel(StrEnum):
    UNRESTRICTED = "unrestricted"
    PARTIAL_SYNCHRONY = "partial-synchrony"
    SYNCHRONY = "synchrony"
    ASYNCHRONY = "asynchrony"

    @property
    def constraints(self) -> tuple[str, ...]:
        """The constraints that hold in this model of computation."""
        return {
            ComputationModel.UNRESTRICTED: (),
            ComputationModel.PARTIAL_SYNCHRONY: (DELIVERY, SPEED),
            ComputationModel.SYNCHRONY: (LOCKSTEP,),
            ComputationModel.ASYNCHRONY: (ALONE,),
        }[self]


CONSTRAINTS = {
    DELIVERY: SubRound.RECEIVE,
    SPEED: SubRound.SCHEDULE,
    LOCKSTEP: SubRound.SCHEDULE,
    ALONE: SubRound.SCHEDULE,
}
"""For each constraint, the sub-round that it restricts."""


class Interpretation(ABC):
    """The three functions of a template, and the operations on messages and buffers."""

    start: Any
    crashed: Any
    start_value: Any
    no_messages: Any
    no_transit: Any
    longest_rest: Number
    """The most rounds in a row that a correct process may be inactive, under (PS2)."""

    @abstractmethod
    def is_kind(self, location: Any, kind: Kind) -> Truth: ...

    @abstractmethod
    def next_location(self, location: Any) -> Any: ...

    @abstractmethod
    def generate_message(self, location: Any) -> Any: ...

    @abstractmethod
    def next_value(self, location: Any, messages: Any, value: Any) -> Any: ...

    @abstractmethod
    def joined(self, messages: Any, more: Any) -> Any:
        """Return the union of two sets of messages."""

    @abstractmethod
    def aged(self, buffer: Any) -> Any:
        """Return the buffer with all messages one round older."""

    @abstractmethod
    def may_take(self, buffer: Any, message: Any) -> Truth:
        """Return whether the buffer does not yet contain this message with age 0."""

    @abstractmethod
    def with_fresh(self, buffer: Any, message: Any) -> Any: ...

    @abstractmethod
    def within(self, part: Any, buffer: Any) -> Truth: ...

    @abstractmethod
    def without(self, buffer: Any, part: Any) -> Any: ...

    @abstractmethod
    def contents(self, part: Any) -> Any:
        """Return the messages of a part of a buffer, without their ages."""

    @abstractmethod
    def overdue(self, buffer: Any) -> Truth:
        """Return whether a message in the buffer has age Δ or more."""


@dataclass(frozen=True)
class Configuration:
    """A global configuration.

    ``idle`` counts the rounds since a correct process was last active; it makes (PS2) a rule about one round.  ``some``
    is the existential quantifier over processes; the sub-rounds of `Rounds` do not use it.
    """

    location: OfOne
    active: OfOne
    idle: OfOne
    received: OfTwo
    value: OfTwo
    buffer: OfTwo
    """From the first process to the second; ``received`` and ``value`` belong to the first and are about the second."""
    some: Callable[[Callable[[Index], Truth]], Truth]


OF_ONE, OF_TWO = ("location", "active", "idle"), ("received", "value", "buffer")


@dataclass(frozen=True)
class Choices:
    """The nondeterministic choices: who crashes, who is scheduled, what is delivered from the first to the second."""

    crash: OfOne
    schedule: OfOne
    delivered: OfTwo


@dataclass(frozen=True)
class Step:
    """The result of a sub-round: the next configuration, and the rules that must hold for all p and q."""

    after: Configuration
    rules: Mapping[str, Rule]


class Rounds:
    """The sub-rounds of symmetric point-to-point algorithms."""

    def begin(self, of: Interpretation, some: Callable[[Callable[[Index], Truth]], Truth]) -> Configuration:
        return Configuration(
            location=lambda p: of.start,
            active=lambda p: False,
            idle=lambda p: 0,
            received=lambda p, q: of.no_messages,
            value=lambda p, q: of.start_value,
            buffer=lambda s, r: of.no_transit,
            some=some,
        )

    def step(self, name: SubRound, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        sub_rounds = {
            SubRound.SCHEDULE: self.schedule,
            SubRound.SEND: self.send,
            SubRound.RECEIVE: self.receive,
            SubRound.COMPUTE: self.compute,
        }
        step = sub_rounds[name](of, c, chosen)
        if not isinstance(step, Step):
            raise UsageError(f"{name} of {type(self).__name__} gives {shorten_value(step)}, which is not a Step")
        for rule in step.rules:
            if CONSTRAINTS.get(rule, name) is not name:
                raise UsageError(f"{rule} is a rule of {CONSTRAINTS[rule]}, and {name} has it", "give it another name")
        return step

    def schedule(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        def correct(p: Index) -> Truth:
            return Not(c.location(p) == of.crashed)

        def correct_after(p: Index) -> Truth:
            return And(correct(p), Not(chosen.crash(p)))

        def idle(p: Index) -> Number:
            return If(Or(chosen.schedule(p), Not(correct_after(p))), 0, c.idle(p) + 1)

        after = replace(
            c,
            location=lambda p: If(chosen.crash(p), of.crashed, c.location(p)),
            active=chosen.schedule,
            idle=idle,
            buffer=lambda s, r: _choose_value(correct_after(r), lambda: of.aged(c.buffer(s, r)), of.no_transit),
        )
        return Step(
            after,
            {
                "none-active": lambda p, q: Not(c.active(p)),
                "crash-once": lambda p, q: Implies(chosen.crash(p), correct(p)),
                "crashed-rest": lambda p, q: Implies(chosen.schedule(p), correct_after(p)),
                SPEED: lambda p, q: Implies(correct_after(p), idle(p) <= of.longest_rest),
                LOCKSTEP: lambda p, q: Implies(correct_after(p), chosen.schedule(p)),
                ALONE: lambda p, q: Implies(And(chosen.schedule(p), chosen.schedule(q)), p == q),
            },
        )

    def send(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        def sends(p: Index) -> Truth:
            return self.enabled(of, c, p, Kind.SEND)

        def message(p: Index) -> Any:
            return of.generate_message(c.location(p))

        after = replace(
            self.moved(of, c, sends, lambda p, q: of.no_messages),
            buffer=lambda s, r: _choose_value(
                sends(s), lambda: of.with_fresh(c.buffer(s, r), message(s)), c.buffer(s, r)
            ),
        )

        def fresh(p: Index, q: Index) -> Truth:
            return _choose_value(sends(p), lambda: of.may_take(c.buffer(p, q), message(p)), True)

        return Step(after, {"fresh": fresh})

    def receive(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        def receives(p: Index) -> Truth:
            return self.enabled(of, c, p, Kind.RECEIVE)

        def buffer(s: Index, r: Index) -> Any:
            return _choose_value(
                receives(r), lambda: of.without(c.buffer(s, r), chosen.delivered(s, r)), c.buffer(s, r)
            )

        def messages(p: Index, q: Index) -> Any:
            return of.contents(chosen.delivered(q, p))

        after = replace(
            self.moved(of, c, receives, messages),
            received=lambda p, q: _choose_value(
                receives(p), lambda: of.joined(c.received(p, q), messages(p, q)), c.received(p, q)
            ),
            buffer=buffer,
        )
        return Step(
            after,
            {
                "in-transit": lambda p, q: Implies(receives(p), of.within(chosen.delivered(q, p), c.buffer(q, p))),
                DELIVERY: lambda p, q: Implies(receives(p), Not(of.overdue(buffer(q, p)))),
            },
        )

    def compute(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        return Step(self.moved(of, c, lambda p: self.enabled(of, c, p, Kind.COMPUTE), lambda p, q: of.no_messages), {})

    def enabled(self, of: Interpretation, c: Configuration, p: Index, kind: Kind) -> Truth:
        return And(c.active(p), of.is_kind(c.location(p), kind))

    def moved(self, of: Interpretation, c: Configuration, moves: OfOne, messages: OfTwo) -> Configuration:
        """Move the processes that make a step, with the messages delivered to them; the others stay as they are."""

        def value(p: Index, q: Index) -> Any:
            return _choose_value(
                moves(p), lambda: of.next_value(c.location(p), messages(p, q), c.value(p, q)), c.value(p, q)
            )

        return replace(
            c,
            location=lambda p: _choose_value(moves(p), lambda: of.next_location(c.location(p)), c.location(p)),
            active=lambda p: And(c.active(p), Not(moves(p))),
            value=value,
        )


def _choose_value(condition: Truth, then: Callable[[], Any], otherwise: Any) -> Any:
    """Choose between two values; where the condition is known, the template's functions are called only if needed."""
    return If(condition, then(), otherwise) if not isinstance(condition, bool) else then() if condition else otherwise
