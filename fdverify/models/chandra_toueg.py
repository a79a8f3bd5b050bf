"""The Chandra-Toueg failure detector with one sender and one receiver, under partial synchrony.

One global round is the sequence of phases below.  The two published specifications of it differ in four places, kept
side by side in :class:`Variant`; docs/semantics.md tells them in words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from fdverify.errors import UsageError
from fdverify.logic import And, If, Implies, Max, Min, Not, Number, Or, Truth
from fdverify.models.buffer import ENCODINGS
from fdverify.models.detector import Detector
from fdverify.models.expression import parse_expression
from fdverify.models.growing import GrowingLoop
from fdverify.models.model import Model, Option
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Flags,
    Integers,
    Labels,
    Parameter,
    Phase,
    Property,
    State,
    Subset,
    System,
    Update,
    Variable,
    update,
)


class ReceiverPc(IntEnum):
    """The receiver's step of the round in which it was last active."""

    NoSnd = 0
    Receive = 1
    Compute = 2


class SenderPc(IntEnum):
    Send = 0
    Crashed = 1


@dataclass(frozen=True)
class Variant:
    """Where the published specifications differ."""

    receiver_starts: ReceiverPc
    least_idle_before_send: int
    waiting_time_saturates: bool
    suspects_after_increment: bool


VARIANTS = {
    "tla": Variant(
        receiver_starts=ReceiverPc.Compute,
        least_idle_before_send=2,
        waiting_time_saturates=True,
        suspects_after_increment=False,
    ),
    "ivy": Variant(
        receiver_starts=ReceiverPc.NoSnd,
        least_idle_before_send=0,
        waiting_time_saturates=False,
        suspects_after_increment=True,
    ),
}


@dataclass(frozen=True)
class Computation:
    """A model of computation: in which rounds the bounds hold, and whether both processes may be active in one."""

    timely: Callable[[State], Truth]
    at_most_one_active: bool = False


PARTIAL_SYNCHRONY, SYNCHRONY, ASYNCHRONY = "partial-synchrony", "synchrony", "asynchrony"
COMPUTATIONS = {
    PARTIAL_SYNCHRONY: Computation(timely=lambda s: True),
    # With Φ = 1, which is part of it.
    SYNCHRONY: Computation(timely=lambda s: True),
    ASYNCHRONY: Computation(timely=lambda s: False, at_most_one_active=True),
}

DELTA = Parameter("delta", least=0, value=None, meaning="bound on message delay")
PHI = Parameter("phi", least=1, value=None, meaning="bound on relative speed", small=(1, 3, 2))
SAFE_TIMEOUT = "6*phi+delta"


def sender_correct(s: State) -> Truth:
    return s.sender_pc == SenderPc.Send


def crashed(s: State) -> Truth:
    """The sender has crashed."""
    return s.sender_pc == SenderPc.Crashed


def suspected(s: State) -> Truth:
    """The receiver suspects the sender."""
    flag: Truth = s.suspected
    return flag


def receiver_runs(s: State, step: ReceiverPc) -> Truth:
    """Whether the receiver is active in this round with this step: scheduling leaves a timer at 0 only then."""
    return And(s.receiver_timer == 0, s.receiver_pc == step)


def sender_acts(s: State) -> Truth:
    """Whether the sender is active in this round, once it has been scheduled."""
    return And(s.sender_timer == 0, sender_correct(s))


def crash(s: State, c: Choices) -> Update:
    return update(
        sender_pc=If(c.crash, SenderPc.Crashed, s.sender_pc),
        sender_timer=If(c.crash, 0, s.sender_timer),
        hlfsc=If(c.crash, 0, If(sender_correct(s), s.hlfsc, s.hlfsc + 1)),
    )


def age_messages(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.age())


def send(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.send(when=sender_acts(s)))


def receiving(s: State) -> Truth:
    return receiver_runs(s, ReceiverPc.Receive)


@dataclass(frozen=True)
class Phases:
    """The phases that read the variant or the model of computation."""

    variant: Variant
    computation: Computation

    def idle_once_more(self, s: State, timer: Number, bound: Number) -> Number:
        """The timer of an idle process; without a bound on its idle time it stops there."""
        return If(self.computation.timely(s), timer + 1, Min(timer + 1, bound))

    def may_idle(self, s: State, timer: Number, bound: Number) -> Truth:
        return Or(Not(self.computation.timely(s)), timer + 1 < bound)

    def waited_once_more(self, s: State) -> Number:
        goes_on = Or(not self.variant.waiting_time_saturates, s.waiting_time < s.timeout)
        return If(goes_on, s.waiting_time + 1, s.waiting_time)

    def schedule_sender(self, s: State, c: Choices) -> Update:
        correct = sender_correct(s)
        may_send = s.sender_timer >= self.variant.least_idle_before_send
        may_idle = self.may_idle(s, s.sender_timer, 3 * s.phi)
        idle = self.idle_once_more(s, s.sender_timer, 3 * s.phi)
        return update(
            assume=Implies(correct, If(c.sender_active, may_send, may_idle)),
            sender_timer=If(And(correct, Not(c.sender_active)), idle, 0),
        )

    def schedule_receiver(self, s: State, c: Choices) -> Update:
        at_compute = s.receiver_pc == ReceiverPc.Compute
        at_receive = s.receiver_pc == ReceiverPc.Receive
        following = If(at_compute, ReceiverPc.NoSnd, If(at_receive, ReceiverPc.Compute, ReceiverPc.Receive))
        alone = Not(And(self.computation.at_most_one_active, c.receiver_active, sender_acts(s)))
        return update(
            assume=And(alone, Or(c.receiver_active, self.may_idle(s, s.receiver_timer, s.phi))),
            receiver_timer=If(c.receiver_active, 0, self.idle_once_more(s, s.receiver_timer, s.phi)),
            receiver_pc=If(c.receiver_active, following, s.receiver_pc),
        )

    def no_send(self, s: State, c: Choices) -> Update:
        active = receiver_runs(s, ReceiverPc.NoSnd)
        return update(waiting_time=If(active, self.waited_once_more(s), s.waiting_time))

    def receive(self, s: State, c: Choices) -> Update:
        active = receiving(s)
        heard = Not(c.delivered.empty())
        retracts = And(heard, s.suspected)
        return update(
            # An old message must be delivered at the first opportunity, whatever else is.
            assume=Implies(And(active, s.buffer.has(s.delta), self.computation.timely(s)), c.delivered.has(s.delta)),
            buffer=s.buffer.deliver(c.delivered),
            waiting_time=If(heard, 0, If(active, self.waited_once_more(s), s.waiting_time)),
            suspected=And(s.suspected, Not(heard)),
            timeout=If(retracts, s.timeout + 1, s.timeout),
        )

    def compute(self, s: State, c: Choices) -> Update:
        active = receiver_runs(s, ReceiverPc.Compute)
        waited = self.waited_once_more(s)
        reached = (waited if self.variant.suspects_after_increment else s.waiting_time) >= s.timeout
        return update(
            waiting_time=If(active, waited, s.waiting_time),
            suspected=Or(s.suspected, And(active, reached)),
        )


def strong_accuracy(s: State) -> Truth:
    return Not(And(s.suspected, sender_correct(s)))


def eventually_strong_accuracy(s: State) -> Truth:
    return Implies(s.timeout >= 6 * s.phi + s.delta, strong_accuracy(s))


def strong_completeness(s: State) -> Truth:
    return Implies(s.hlfsc >= 6 * s.phi + s.delta + s.phi * s.timeout, s.suspected)


def chandra_toueg(
    delta: int | None,
    phi: int | None,
    *,
    variant: str = "tla",
    crash: bool = False,
    timeout: str = SAFE_TIMEOUT,
    buffer: str | None = None,
    computation: str = PARTIAL_SYNCHRONY,
) -> System:
    """The detector with these bounds (``None``: arbitrary) and this initial timeout (an expression, or ``any``)."""
    if computation == SYNCHRONY and phi not in (None, 1):
        raise UsageError(f"synchrony is phi = 1, got {phi}", "leave --phi out, or use --computation partial-synchrony")
    found = computed(
        COMPUTATIONS[computation],
        delta,
        1 if computation == SYNCHRONY else phi,
        variant=variant,
        crash=crash,
        timeout=timeout,
        buffer=buffer,
    )
    if computation == PARTIAL_SYNCHRONY:
        return found
    growing = (SUSPECTED_AGAIN,) if computation == ASYNCHRONY else ()
    return replace(found, options={**found.options, "computation": computation}, growing=growing)


def computed(
    computation: Computation,
    delta: int | None,
    phi: int | None,
    *,
    variant: str,
    crash: bool,
    timeout: str,
    buffer: str | None,
) -> System:
    """The detector under a model of computation."""
    phases = Phases(VARIANTS[variant], computation)
    encoding = buffer or ("predicate" if delta is None else "bitvector")
    initial_timeout = None if timeout.strip() == "any" else parse_expression(timeout, {"delta", "phi"})
    return System(
        name="chandra-toueg",
        options={"variant": variant, "crash": str(crash).lower(), "timeout": timeout.strip(), "buffer": encoding},
        parameters=(
            replace(DELTA, value=delta),
            replace(PHI, value=phi),
            Parameter("initial_timeout", 1, initial_timeout, "the receiver's first timeout", small=(1, 8, 24, 2)),
        ),
        variables=_variables(phases, crash, encoding),
        phases=_phases(phases, crash),
        properties=_properties(crash),
        liveness=_liveness(crash),
        fairness=FAIRNESS,
        detector=DETECTOR,
    )


def _variables(phases: Phases, crash: bool, encoding: str) -> tuple[Variable, ...]:
    variant, timely = phases.variant, phases.computation.timely
    saturates = variant.waiting_time_saturates

    def idles(s: State, timer: Number, bound: Number) -> Truth:
        return And(timer >= 0, If(timely(s), timer < bound, timer <= bound))

    variables = (
        Variable("suspected", Flags(), initial=lambda s: False),
        Variable(
            "waiting_time",
            Integers(),
            initial=lambda s: 0,
            range=lambda s: And(s.waiting_time >= 0, Implies(saturates, s.waiting_time <= s.timeout)),
            # The timeout changes only when waiting_time becomes 0, so how far it is exceeded never matters.
            cap=None if saturates else lambda s: s.timeout,
        ),
        Variable(
            "timeout",
            Integers(),
            initial=lambda s: s.initial_timeout,
            range=lambda s: s.timeout >= s.initial_timeout,
        ),
        Variable("sender_pc", Labels(SenderPc), initial=lambda s: SenderPc.Send),
        Variable("receiver_pc", Labels(ReceiverPc), initial=lambda s: variant.receiver_starts),
        Variable("buffer", Ages(encoding, bound="delta"), initial=lambda s: frozenset()),
        Variable(
            "sender_timer",
            Integers(),
            initial=lambda s: 0,
            range=lambda s: idles(s, s.sender_timer, 3 * s.phi),
        ),
        Variable(
            "receiver_timer",
            Integers(),
            initial=lambda s: 0,
            range=lambda s: idles(s, s.receiver_timer, s.phi),
        ),
    )
    if not crash:
        return variables
    hlfsc = Variable(
        "hlfsc",
        Integers(),
        initial=lambda s: -1,
        range=lambda s: If(sender_correct(s), s.hlfsc == -1, s.hlfsc >= 0),
        ghost=True,
        clock=True,
    )
    return (*variables, hlfsc)


def _phases(steps: Phases, with_crash: bool) -> tuple[Phase, ...]:
    crashing = (Phase("crash", crash, (Flag("crash", when=sender_correct),)),) if with_crash else ()
    return (
        *crashing,
        Phase("schedule_sender", steps.schedule_sender, (Flag("sender_active", when=sender_correct),)),
        Phase("schedule_receiver", steps.schedule_receiver, (Flag("receiver_active"),)),
        Phase("age_messages", age_messages),
        Phase("send", send),
        Phase("no_send", steps.no_send),
        Phase("receive", steps.receive, (Subset("delivered", of="buffer", when=receiving),)),
        Phase("compute", steps.compute),
    )


def _properties(with_crash: bool) -> tuple[Property, ...]:
    properties = (
        Property("strong-accuracy", strong_accuracy, "a sender that has not crashed is not suspected"),
        Property(
            "eventually-strong-accuracy",
            eventually_strong_accuracy,
            "from timeout >= 6*phi+delta on, a sender that has not crashed is not suspected",
        ),
    )
    if not with_crash:
        return properties
    completeness = Property(
        "strong-completeness",
        strong_completeness,
        "once the sender has been crashed for 6*phi+delta+phi*timeout rounds, it is suspected",
    )
    return (*properties, completeness)


def _liveness(with_crash: bool) -> tuple[Property, ...]:
    accuracy = Property(
        "eventually-strong-accuracy",
        strong_accuracy,
        "from some time on, a sender that has not crashed is not suspected",
    )
    completeness = Property(
        "strong-completeness",
        lambda s: Or(sender_correct(s), s.suspected),
        "from some time on, a crashed sender is suspected, and for good",
    )
    return (accuracy, completeness) if with_crash else (accuracy,)


FAIRNESS = (
    Property("sender-steps", lambda s: s.sender_timer == 0, "the sender takes a step, or has crashed"),
    Property("receiver-steps", lambda s: s.receiver_timer == 0, "the receiver takes a step"),
    Property("no-overdue-message", lambda s: Not(s.buffer.has(s.delta)), "no message of age delta is in transit"),
)

DETECTOR = Detector(
    suspects=suspected,
    correct=sender_correct,
    in_transit=lambda s: Not(s.buffer.empty()),
    receive="receive",
    hears=lambda c: Not(c.delivered.empty()),
    timeout="timeout",
    first_timeout="initial_timeout",
    crash_clock="hlfsc",
)


def _just_retracted(s: State) -> Truth:
    """The sender was heard while it was suspected: all starts again, with a longer timeout."""
    return And(
        Not(s.suspected),
        s.waiting_time == 0,
        s.buffer.empty(),
        sender_correct(s),
        s.receiver_pc == ReceiverPc.Receive,
        s.sender_timer == 1,
        s.receiver_timer == 0,
    )


def _suspected_then_heard(s: State) -> dict[str, Any]:
    """The sender idles until it is suspected, and sends right before Receive: its message is then one round old."""
    sends = And(s.suspected, s.receiver_pc == ReceiverPc.NoSnd, s.buffer.empty())
    return {"crash": False, "sender_active": sends, "receiver_active": Not(sends), "delivered": frozenset({0, 1})}


def _on_the_way_to_retraction(s: State) -> Truth:
    """The sender has idled, for two rounds when it is to send, unless it has just sent the only message."""
    before_receive = And(s.suspected, s.receiver_pc == ReceiverPc.NoSnd)
    idled = s.sender_timer >= If(before_receive, 2, If(s.suspected, 1, Min(s.waiting_time, 1)))
    sent = And(before_receive, s.sender_timer == 0, Not(s.buffer.any(1, s.delta)))
    return And(
        sender_correct(s),
        s.waiting_time >= 0,
        s.receiver_timer >= 0,
        Implies(s.suspected, s.receiver_pc != ReceiverPc.Receive),
        If(s.buffer.empty(), idled, sent),
    )


def _rounds_to_retraction(s: State) -> Number:
    """At most: a whole turn of the receiver for each step that it still waits, then on to Compute, and three more."""
    before_receive = s.receiver_pc == ReceiverPc.NoSnd
    until_compute = If(before_receive, 2, If(s.receiver_pc == ReceiverPc.Receive, 1, 3))
    once_suspected = If(before_receive, If(s.buffer.empty(), 2, 1), 3)
    return If(s.suspected, once_suspected, 3 * Max(s.timeout - s.waiting_time, 0) + until_compute + 3)


SUSPECTED_AGAIN = GrowingLoop(
    breaks="eventually-strong-accuracy",
    grows="timeout",
    least=1,
    starts=_just_retracted,
    within=_on_the_way_to_retraction,
    left=_rounds_to_retraction,
    plan=_suspected_then_heard,
)

CHANDRA_TOUEG = Model(
    name="chandra-toueg",
    summary="the Chandra-Toueg failure detector, one sender and one receiver, under partial synchrony",
    parameters=(DELTA, PHI),
    options=(
        Option("variant", "which published specification", "tla", choices=tuple(VARIANTS)),
        Option("crash", "whether the sender may crash", False),
        Option("timeout", "the initial timeout, or any", SAFE_TIMEOUT, metavar="EXPR|any"),
        Option(
            "buffer", "encoding of the buffer; by default bitvector for a fixed delta, else predicate", None, ENCODINGS
        ),
        Option(
            "computation",
            "when the bounds hold: from the start, with phi = 1, or never",
            PARTIAL_SYNCHRONY,
            tuple(COMPUTATIONS),
        ),
    ),
    default_property="strong-accuracy",
    default_liveness="eventually-strong-accuracy",
    build=chandra_toueg,
)
