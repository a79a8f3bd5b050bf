"""The simulation relation between a pair of processes and the shipped model with one sender and one receiver.

A pair is a receiver that has not crashed and its watch on a sender, which is another process or the receiver itself.
The simulation runs the sub-rounds that are explored, the template's own function and the shipped phases.  Δ, Φ, times,
timeouts and ages are symbolic; the locations of the two processes and who moves are enumerated as cases.

The relation between a pair and a state of the model: the receiver's program counter is the step before its location,
its timer counts its idle rounds, and its watch is the same.  The sender's timer counts the rounds since it last sent.
That number is not part of the configuration; k steps after sending it exceeds the sender's idle rounds by k to kΦ.
In the model's buffer, age Δ stands for all ages from Δ on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import z3

from fdverify.cutoff.chandra_toueg_template import (
    COMPUTE,
    LOCATIONS,
    RECEIVE,
    SEND,
    PeerWatch,
    next_location,
    update_watch,
)
from fdverify.cutoff.rounds import (
    CONSTRAINTS,
    Choices,
    ComputationModel,
    Configuration,
    Interpretation,
    Kind,
    Rounds,
    SubRound,
)
from fdverify.cutoff.small_system import UnwatchedPair
from fdverify.cutoff.template import CRASHED, Location
from fdverify.detectors.chandra_toueg.round_phases import VARIANTS, ReceiverPc, SenderPc
from fdverify.detectors.chandra_toueg.two_process_system import build_chandra_toueg
from fdverify.logic import And, If, Iff, Implies, Min, Not, Number, Or, Truth
from fdverify.models.system import State
from fdverify.symbolic.age_claims import AgeClaimRegistry, SymbolicBuffer
from fdverify.symbolic.selection import Selection, build_predicate
from fdverify.symbolic.values import Bool, Int

Ages: TypeAlias = Callable[[Number], Truth]
"""A set of ages of messages in transit, as a predicate; it may be infinite."""

STEPS = (SEND, RECEIVE, COMPUTE)
LAST_STEP = {SEND: ReceiverPc.Compute, RECEIVE: ReceiverPc.NoSnd, COMPUTE: ReceiverPc.Receive}
"""For each location, the model's program counter: it is the step last taken, a location is the next step."""
STEPS_SINCE_SENT = {RECEIVE: 0, COMPUTE: 1, SEND: 2}
IDLE, ACTIVE, _CRASHES = "idle", "active", "crashes"


@dataclass
class _AgeClaims:
    """Claims that some age in a set is at least a bound, each a Boolean with a Skolem constant as witness.

    The facts are instances for finitely many ages.  Fewer instances would be sound too, but prove less.
    """

    chosen: list[Number]
    _claims: list[tuple[Bool, Number, Ages, Int]] = field(default_factory=list)

    def claim_some(self, ages: Ages, least: Number) -> Bool:
        """Return a Boolean that claims that the set has an age of at least ``least``."""
        number = len(self._claims)
        claim = Bool(z3.Bool(f"some!{number}"))
        self._claims.append((claim, least, ages, Int(z3.Int(f"age!{number}"))))
        return claim

    def build_facts(self) -> list[Truth]:
        """Define the claims: each implies its witness, and each known age that qualifies implies the claim."""
        witnesses = [witness for *_, witness in self._claims]
        ages = [age + offset for age in (*self.chosen, *witnesses) for offset in (-1, 0, 1)]
        facts: list[Truth] = []
        for claim, least, members, witness in self._claims:
            facts.append(Implies(claim, And(witness >= least, members(witness))))
            facts += [Implies(And(age >= least, members(age)), claim) for age in ages]
        return facts


class _PairInterpretation(Interpretation):
    """The detector with concrete locations and symbolic values; a set of messages is a Boolean: is it nonempty?"""

    def __init__(self, variant: str, delta: Number, phi: Number, claims: _AgeClaims) -> None:
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

    def next_value(self, location: Location, messages: Truth, value: PeerWatch) -> PeerWatch:
        return update_watch(self._variant, location, messages, value)

    def joined(self, messages: Truth, more: Truth) -> Truth:
        return Or(messages, more)

    def aged(self, buffer: Ages) -> Ages:
        return lambda age: And(age >= 1, buffer(age - 1))

    def may_take(self, buffer: Ages, message: Truth) -> Truth:
        return Not(buffer(0))

    def with_fresh(self, buffer: Ages, message: Truth) -> Ages:
        return lambda age: Or(age == 0, buffer(age))

    def within(self, part: Ages, buffer: Ages) -> Truth:
        return True  # deliveries are chosen from the buffer

    def without(self, buffer: Ages, part: Ages) -> Ages:
        return lambda age: And(buffer(age), Not(part(age)))

    def contents(self, part: Ages) -> Truth:
        return self._claims.claim_some(part, 0)

    def overdue(self, buffer: Ages) -> Truth:
        return self._claims.claim_some(buffer, self._delta)


@dataclass(frozen=True)
class SimulationCase:
    """The locations and actions of receiver and sender in a round; with ``same``, they are one process."""

    receiver: Location
    receiver_does: str
    sender: Location
    sender_does: str
    same: bool

    @property
    def name(self) -> str:
        sender = "" if self.same else f", sender at {self.sender} {self.sender_does}"
        return f"receiver at {self.receiver} {self.receiver_does}{sender}"


def enumerate_cases(receiver: Location, receiver_does: str, same: bool) -> list[SimulationCase]:
    """Enumerate the sender's locations and actions that are compatible with this action of the receiver."""
    if same:
        return [SimulationCase(receiver, receiver_does, receiver, receiver_does, same)]
    return [
        SimulationCase(receiver, receiver_does, sender, sender_does, same)
        for sender, sender_does in product((*STEPS, CRASHED), (IDLE, ACTIVE, _CRASHES))
        if sender != CRASHED or sender_does == IDLE
    ]


@dataclass(frozen=True)
class SimulationObligation:
    """The proof obligation of a case: the round of a pair is matched by a round of the model."""

    facts: tuple[Truth, ...]
    hypotheses: tuple[Truth, ...]
    conclusions: dict[str, Truth]


def build_obligation(case: SimulationCase, variant: str, rounds: Rounds) -> SimulationObligation:
    """Build the proof obligation of a case: run the round of the pair, then the model's, and relate the results."""
    delta, phi = Int(z3.Int("delta")), Int(z3.Int("phi"))
    age, heard_age = Int(z3.Int("age")), Int(z3.Int("heard_age"))
    claims = _AgeClaims([Int(z3.IntVal(0)), delta, age, heard_age])
    interpretation = _PairInterpretation(variant, delta, phi, claims)
    watch = PeerWatch(Int(z3.Int("timeout")), Bool(z3.Bool("suspected")), Int(z3.Int("waiting_time")))
    idle = {1: Int(z3.Int("receiver_idle")), 2: Int(z3.Int("sender_idle"))}
    sender = 1 if case.same else 2
    transit, selected = build_predicate("transit"), build_predicate("delivered")
    before = _build_configuration(case, sender, watch, idle, lambda a: And(a >= 0, transit(a)))
    timer = Int(z3.Int("sender_timer"))
    hypotheses = [delta >= 0, phi >= 1, *(And(rest >= 0, rest < phi) for rest in idle.values())]
    hypotheses += [watch.timeout >= 1, watch.waiting_time >= 0]
    hypotheses.append(_relate_sender_timer(variant, case.sender, timer, idle[sender], phi))

    does = {1: case.receiver_does, sender: case.sender_does}
    current = before
    is_delivered: Ages = interpretation.no_transit
    heard: Truth = False
    for sub_round in SubRound:
        receiving = sub_round is SubRound.RECEIVE and current.active(1) and current.location(1) == RECEIVE
        if receiving:
            buffer = current.buffer(sender, 1)

            def is_delivered(a: Number, buffer: Ages = buffer) -> Truth:
                return And(selected(a), buffer(a))

        chosen = Choices(
            crash=lambda p: does[p] == _CRASHES,
            schedule=lambda p: does[p] == ACTIVE,
            delivered=partial(_check_watched, sender, is_delivered),
        )
        step = rounds.step(sub_round, interpretation, current, chosen)
        hypotheses += _instantiate_rules(step.rules, (1, sender))
        current = step.after if sub_round is not SubRound.RECEIVE else _freeze_value(step.after, sender)
    if case.receiver == RECEIVE and case.receiver_does == ACTIVE:
        heard = claims.claim_some(is_delivered, 0)
        hypotheses.append(Implies(heard, is_delivered(heard_age)))

    model = _ModelRound(case, variant, delta, phi, watch, idle[1], timer, lambda b: claims.claim_some(b, delta))
    after, allowed = model.run(before.buffer(sender, 1), is_delivered, heard, heard_age)
    watch_after: PeerWatch = current.value(1, sender)
    in_transit = current.buffer(sender, 1)
    old = claims.claim_some(in_transit, delta)
    stored = And(age >= 0, age <= delta)
    conclusions = {
        "the round is allowed": allowed,
        "timeout": after.timeout == watch_after.timeout,
        "suspected": Iff(after.suspected, watch_after.suspected),
        "waiting time": after.waiting_time == watch_after.waiting_time,
        "receiver's step": after.receiver_pc == LAST_STEP[current.location(1)],
        "receiver's timer": after.receiver_timer == current.idle(1),
        "sender's step": (after.sender_pc == SenderPc.Crashed) == (current.location(sender) == CRASHED),
        "sender's timer": _relate_sender_timer(
            variant, current.location(sender), after.sender_timer, current.idle(sender), phi
        ),
        "buffer": Implies(stored, Iff(after.buffer.has(age), If(age == delta, old, in_transit(age)))),
    }
    return SimulationObligation(tuple(claims.build_facts()), tuple(hypotheses), conclusions)


def _build_configuration(
    case: SimulationCase, sender: int, watch: PeerWatch, idle: dict[int, Int], transit: Ages
) -> Configuration:
    location = {1: case.receiver, sender: case.sender}
    return Configuration(
        location=lambda p: location[p],
        active=lambda p: False,
        idle=lambda p: idle[p] if location[p] != CRASHED else 0,
        received=lambda p, q: _check_watched(sender, False, q, p),
        value=lambda p, q: _check_watched(sender, watch, q, p),
        buffer=partial(_check_watched, sender, transit),
        some=lambda claim: Or(*(claim(p) for p in location)),
    )


def _check_watched(sender: int, part: Any, s: int, r: int) -> Any:
    """Return a part of the pair's state; refuse a read of any other pair than the sender s and the receiver r."""
    if (s, r) != (sender, 1):
        raise UnwatchedPair
    return part


def _freeze_value(c: Configuration, sender: int) -> Configuration:
    """Evaluate the value of the pair once, so that its claims about messages are made once."""
    value = c.value(1, sender)
    return replace(c, value=lambda p, q: _check_watched(sender, value, q, p))


def _instantiate_rules(rules: Any, processes: tuple[int, int]) -> Iterator[Truth]:
    """Yield the rules in force under partial synchrony, for all pairs of which the state is known."""
    imposed = ComputationModel.PARTIAL_SYNCHRONY.constraints
    for name, rule in rules.items():
        for p, q in product(dict.fromkeys(processes), repeat=2):
            try:
                if name not in CONSTRAINTS or name in imposed:
                    yield rule(p, q)
            except UnwatchedPair:
                continue


def _relate_sender_timer(variant: str, location: Location, timer: Number, idle: Number, phi: Number) -> Truth:
    """State the relation between the model's sender timer and a sender at this location."""
    if location == CRASHED:
        return timer == 0
    steps = STEPS_SINCE_SENT[location]
    rests = VARIANTS[variant].least_idle_before_send > 0
    return And(timer >= (steps + idle if rests else 0), timer <= steps * phi + idle)


class _ModelRound:
    """A round of the shipped model, from the state that is related to a pair."""

    def __init__(
        self,
        case: SimulationCase,
        variant: str,
        delta: Number,
        phi: Number,
        watch: PeerWatch,
        idle: Number,
        timer: Number,
        old: Callable[[Ages], Truth],
    ) -> None:
        self._case = case
        self._system = build_chandra_toueg(None, None, variant=variant, crash=True, timeout="any")
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

    def run(self, transit: Ages, delivered: Ages, heard: Truth, heard_age: Number) -> tuple[State, Truth]:
        """Run the phases; return the state after the round, and whether the round is allowed."""
        case, delta = self._case, self._values["delta"]
        old = self._old(transit)
        buffer = SymbolicBuffer(delta, lambda age: If(age == delta, old, transit(age)), AgeClaimRegistry())
        state, allowed = State({**self._values, "buffer": buffer}), []
        flags = {
            "crash": case.sender_does == _CRASHES,
            "sender_active": case.sender_does == ACTIVE and case.sender == SEND,
            "receiver_active": case.receiver_does == ACTIVE,
        }
        for phase in self._system.phases:
            # Under (PS1), all messages of age Δ or more are delivered together.
            chosen = Selection(
                state.buffer,
                heard,
                Min(heard_age, delta),
                lambda age: Or(age == delta, delivered(age)),
            )
            state, possible = self._system.run_phase(phase, state, {**flags, "delivered": chosen})
            allowed.append(possible)
        return state, And(*allowed)
