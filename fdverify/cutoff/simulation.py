"""From N processes to one sender and one receiver: each round of a pair of processes is a round of the shipped model.

A pair is a receiver that has not crashed and what it knows of a sender, another process or the receiver itself.  The
sub-rounds are those that are explored, the template's function is the one that runs, and the phases are the shipped
ones; Δ, Φ, times, timeouts and ages are symbolic.  Where the two processes are, and who moves, is split into cases.

The relation between a pair and a state of the model: the receiver's program counter is the step before its location,
its timer counts its idle rounds, and what it knows is the same.  The sender's timer counts the rounds since it last
sent.  That is not in the configuration, but k steps later it is at least k, and at most kΦ, more than its idle rounds.
In the buffer, age Δ stands for all ages from Δ on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import z3

from fdverify.cutoff.chandra_toueg import (
    COMPUTE,
    LOCATIONS,
    RECEIVE,
    SEND,
    Watch,
    next_location,
    next_watch,
)
from fdverify.cutoff.explore import Unwatched
from fdverify.cutoff.rounds import (
    CONSTRAINTS,
    Choices,
    Computation,
    Configuration,
    Interpretation,
    Kind,
    Rounds,
    SubRound,
)
from fdverify.cutoff.template import CRASHED, Location
from fdverify.logic import And, If, Iff, Implies, Min, Not, Number, Or, Truth
from fdverify.models.chandra_toueg.model import chandra_toueg
from fdverify.models.chandra_toueg.phases import VARIANTS, ReceiverPc, SenderPc
from fdverify.models.system import State
from fdverify.symbolic.ages import AgeBook, ClaimedBuffer
from fdverify.symbolic.selection import Selection, predicate
from fdverify.symbolic.values import Bool, Int

Ages: TypeAlias = Callable[[Number], Truth]
"""The ages of the messages in transit, of which there may be any number."""

STEPS = (SEND, RECEIVE, COMPUTE)
LAST_STEP = {SEND: ReceiverPc.Compute, RECEIVE: ReceiverPc.NoSnd, COMPUTE: ReceiverPc.Receive}
"""The model keeps the step that was taken, a process the one to take."""
STEPS_SINCE_SENT = {RECEIVE: 0, COMPUTE: 1, SEND: 2}
IDLE, ACTIVE, _CRASHES = "idle", "active", "crashes"


@dataclass
class _Claims:
    """That some age of a set is at least so much, as a truth value with an age of its own; sound at whatever ages."""

    chosen: list[Number]
    _made: list[tuple[Bool, Number, Ages, Int]] = field(default_factory=list)

    def some(self, ages: Ages, least: Number) -> Bool:
        number = len(self._made)
        claim = Bool(z3.Bool(f"some!{number}"))
        self._made.append((claim, least, ages, Int(z3.Int(f"age!{number}"))))
        return claim

    def facts(self) -> list[Truth]:
        witnesses = [witness for *_, witness in self._made]
        ages = [age + offset for age in (*self.chosen, *witnesses) for offset in (-1, 0, 1)]
        found: list[Truth] = []
        for claim, least, members, witness in self._made:
            found.append(Implies(claim, And(witness >= least, members(witness))))
            found += [Implies(And(age >= least, members(age)), claim) for age in ages]
        return found


class _Pair(Interpretation):
    """The detector with locations of Python's and symbolic values; a set of messages is whether there are any."""

    def __init__(self, variant: str, delta: Number, phi: Number, claims: _Claims) -> None:
        self.start, self.crashed, self.start_value, self.no_messages = SEND, CRASHED, None, False
        self._variant = VARIANTS[variant]
        self._delta, self.longest_rest = delta, phi - 1
        self._claims = claims
        self.no_transit: Ages = lambda age: False

    def is_kind(self, location: Location, kind: Kind) -> bool:
        return LOCATIONS.get(location, Kind.CRASHED) is kind

    def next_location(self, location: Location) -> Location:
        return next_location(location)

    def generate_message(self, location: Location) -> Truth:
        return True

    def next_value(self, location: Location, messages: Truth, value: Watch) -> Watch:
        return next_watch(self._variant, location, messages, value)

    def joined(self, messages: Truth, more: Truth) -> Truth:
        return Or(messages, more)

    def aged(self, buffer: Ages) -> Ages:
        return lambda age: And(age >= 1, buffer(age - 1))

    def may_take(self, buffer: Ages, message: Truth) -> Truth:
        return Not(buffer(0))

    def with_fresh(self, buffer: Ages, message: Truth) -> Ages:
        return lambda age: Or(age == 0, buffer(age))

    def within(self, part: Ages, buffer: Ages) -> Truth:
        return True  # what is delivered is chosen from the buffer

    def without(self, buffer: Ages, part: Ages) -> Ages:
        return lambda age: And(buffer(age), Not(part(age)))

    def contents(self, part: Ages) -> Truth:
        return self._claims.some(part, 0)

    def overdue(self, buffer: Ages) -> Truth:
        return self._claims.some(buffer, self._delta)


@dataclass(frozen=True)
class Case:
    """Where the two processes are, and what they do in this round; the sender may be the receiver itself."""

    receiver: Location
    receiver_does: str
    sender: Location
    sender_does: str
    same: bool

    @property
    def name(self) -> str:
        sender = "" if self.same else f", sender at {self.sender} {self.sender_does}"
        return f"receiver at {self.receiver} {self.receiver_does}{sender}"


def cases(receiver: Location, receiver_does: str, same: bool) -> list[Case]:
    """All that can happen to the sender in a round in which the receiver, there, does this."""
    if same:
        return [Case(receiver, receiver_does, receiver, receiver_does, same)]
    return [
        Case(receiver, receiver_does, sender, sender_does, same)
        for sender, sender_does in product((*STEPS, CRASHED), (IDLE, ACTIVE, _CRASHES))
        if sender != CRASHED or sender_does == IDLE
    ]


@dataclass(frozen=True)
class Simulated:
    """A round of a pair and the round of the model that goes with it: what is assumed, and what follows."""

    facts: tuple[Truth, ...]
    hypotheses: tuple[Truth, ...]
    conclusions: dict[str, Truth]


def simulated(case: Case, variant: str, rounds: Rounds) -> Simulated:
    delta, phi = Int(z3.Int("delta")), Int(z3.Int("phi"))
    age, heard_age = Int(z3.Int("age")), Int(z3.Int("heard_age"))
    claims = _Claims([Int(z3.IntVal(0)), delta, age, heard_age])
    of = _Pair(variant, delta, phi, claims)
    watch = Watch(Int(z3.Int("timeout")), Bool(z3.Bool("suspected")), Int(z3.Int("waiting_time")))
    idle = {1: Int(z3.Int("receiver_idle")), 2: Int(z3.Int("sender_idle"))}
    sender = 1 if case.same else 2
    transit, wish = predicate("transit"), predicate("delivered")
    before = _configuration(case, sender, watch, idle, lambda a: And(a >= 0, transit(a)))
    timer = Int(z3.Int("sender_timer"))
    hypotheses = [delta >= 0, phi >= 1, *(And(rest >= 0, rest < phi) for rest in idle.values())]
    hypotheses += [watch.timeout >= 1, watch.waiting_time >= 0]
    related = _sender_related(variant, case.sender, timer, idle[sender], phi)
    hypotheses.append(related)

    does = {1: case.receiver_does, sender: case.sender_does}
    at = before
    delivered: Ages = of.no_transit
    heard: Truth = False
    for sub_round in SubRound:
        receiving = sub_round is SubRound.RECEIVE and at.active(1) and at.location(1) == RECEIVE
        if receiving:
            buffer = at.buffer(sender, 1)

            def delivered(a: Number, buffer: Ages = buffer) -> Truth:
                return And(wish(a), buffer(a))

        chosen = Choices(
            crash=lambda p: does[p] == _CRASHES,
            schedule=lambda p: does[p] == ACTIVE,
            delivered=partial(_watched, sender, delivered),
        )
        step = rounds.step(sub_round, of, at, chosen)
        hypotheses += _rules(step.rules, (1, sender))
        at = step.after if sub_round is not SubRound.RECEIVE else _frozen(step.after, sender)
    if case.receiver == RECEIVE and case.receiver_does == ACTIVE:
        heard = claims.some(delivered, 0)
        hypotheses.append(Implies(heard, delivered(heard_age)))

    model = _Model(case, variant, delta, phi, watch, idle[1], timer, lambda b: claims.some(b, delta))
    after, allowed = model.round(before.buffer(sender, 1), delivered, heard, heard_age)
    known: Watch = at.value(1, sender)
    in_transit = at.buffer(sender, 1)
    old = claims.some(in_transit, delta)
    within = And(age >= 0, age <= delta)
    conclusions = {
        "the round is allowed": allowed,
        "timeout": after.timeout == known.timeout,
        "suspected": Iff(after.suspected, known.suspected),
        "waiting time": after.waiting_time == known.waiting_time,
        "receiver's step": after.receiver_pc == LAST_STEP[at.location(1)],
        "receiver's timer": after.receiver_timer == at.idle(1),
        "sender's step": (after.sender_pc == SenderPc.Crashed) == (at.location(sender) == CRASHED),
        "sender's timer": _sender_related(variant, at.location(sender), after.sender_timer, at.idle(sender), phi),
        "buffer": Implies(within, Iff(after.buffer.has(age), If(age == delta, old, in_transit(age)))),
    }
    return Simulated(tuple(claims.facts()), tuple(hypotheses), conclusions)


def _configuration(case: Case, sender: int, watch: Watch, idle: dict[int, Int], transit: Ages) -> Configuration:
    location = {1: case.receiver, sender: case.sender}
    return Configuration(
        location=lambda p: location[p],
        active=lambda p: False,
        idle=lambda p: idle[p] if location[p] != CRASHED else 0,
        received=lambda p, q: _watched(sender, False, q, p),
        value=lambda p, q: _watched(sender, watch, q, p),
        buffer=partial(_watched, sender, transit),
        some=lambda claim: Or(*(claim(p) for p in location)),
    )


def _watched(sender: int, found: Any, s: int, r: int) -> Any:
    """What concerns messages from the first process to the second, which are the sender and the receiver."""
    if (s, r) != (sender, 1):
        raise Unwatched
    return found


def _frozen(c: Configuration, sender: int) -> Configuration:
    """The same with the value of the pair computed once, so that what it claims of messages is claimed once."""
    value = c.value(1, sender)
    return replace(c, value=lambda p, q: _watched(sender, value, q, p))


def _rules(rules: Any, processes: tuple[int, int]) -> Iterator[Truth]:
    imposed = Computation.PARTIAL_SYNCHRONY.imposes
    for name, rule in rules.items():
        for p, q in product(dict.fromkeys(processes), repeat=2):
            try:
                if name not in CONSTRAINTS or name in imposed:
                    yield rule(p, q)
            except Unwatched:
                continue


def _sender_related(variant: str, location: Location, timer: Number, idle: Number, phi: Number) -> Truth:
    """The sender's timer in the model, for a sender that is there."""
    if location == CRASHED:
        return timer == 0
    steps = STEPS_SINCE_SENT[location]
    rests = VARIANTS[variant].least_idle_before_send > 0
    return And(timer >= (steps + idle if rests else 0), timer <= steps * phi + idle)


class _Model:
    """A round of the shipped model, from the state that goes with a pair."""

    def __init__(
        self,
        case: Case,
        variant: str,
        delta: Number,
        phi: Number,
        watch: Watch,
        idle: Number,
        timer: Number,
        old: Callable[[Ages], Truth],
    ) -> None:
        self._case = case
        self._system = chandra_toueg(None, None, variant=variant, crash=True, timeout="any")
        self._values = {
            "delta": delta,
            "phi": phi,
            "initial_timeout": Int(z3.Int("initial_timeout")),
            "hlfsc": Int(z3.Int("hlfsc")),
            **watch._asdict(),
            "sender_pc": SenderPc.Crashed if case.sender == CRASHED else SenderPc.Send,
            "receiver_pc": LAST_STEP[case.receiver],
            "sender_timer": timer,
            "receiver_timer": idle,
        }
        self._old = old

    def round(self, transit: Ages, delivered: Ages, heard: Truth, heard_age: Number) -> tuple[State, Truth]:
        """The state after it, and whether it is allowed."""
        case, delta = self._case, self._values["delta"]
        old = self._old(transit)
        buffer = ClaimedBuffer(delta, lambda age: If(age == delta, old, transit(age)), AgeBook())
        state, allowed = State({**self._values, "buffer": buffer}), []
        flags = {
            "crash": case.sender_does == _CRASHES,
            "sender_active": case.sender_does == ACTIVE and case.sender == SEND,
            "receiver_active": case.receiver_does == ACTIVE,
        }
        for phase in self._system.phases:
            # All messages of age Δ or more are delivered together, with (PS1).
            chosen = Selection(
                state.buffer,
                heard,
                Min(heard_age, delta),
                lambda age: Or(age == delta, delivered(age)),
            )
            state, possible = self._system.run_phase(phase, state, {**flags, "delivered": chosen})
            allowed.append(possible)
        return state, And(*allowed)
