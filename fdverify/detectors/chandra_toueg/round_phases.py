"""The phases of one global round, for each variant and each model of computation.

The two published specifications differ in four places, which :class:`Variant` keeps side by side;
docs/reference/semantics.md explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from fdverify.logic import And, If, Implies, Not, Number, Or, Truth
from fdverify.models.process import Process
from fdverify.models.system import (
    Choices,
    Flag,
    Phase,
    State,
    Subset,
    Update,
    update,
)


class ReceiverPc(IntEnum):
    """The step of the receiver's last active round."""

    NoSnd = 0
    Receive = 1
    Compute = 2


class SenderPc(IntEnum):
    Send = 0
    Crashed = 1


@dataclass(frozen=True)
class Variant:
    """The differences between the published specifications."""

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
    """A model of computation: when the bounds hold, and whether both processes may be active in one round."""

    timely: Callable[[State], Truth]
    at_most_one_active: bool = False
    late: bool = False
    """Whether some rounds are not timely; age Δ may then mean several messages, which are delivered one by one."""


PARTIAL_SYNCHRONY, SYNCHRONY, ASYNCHRONY = "partial-synchrony", "synchrony", "asynchrony"
COMPUTATIONS = {
    PARTIAL_SYNCHRONY: Computation(timely=lambda s: True),
    # Synchrony also means Φ = 1.
    SYNCHRONY: Computation(timely=lambda s: True),
    ASYNCHRONY: Computation(timely=lambda s: False, at_most_one_active=True, late=True),
}


# The sender's three steps are modelled as one.
SENDER = Process("sender", (SenderPc.Send,), bound=lambda s: 3 * s.phi, crashed=SenderPc.Crashed)
RECEIVER = Process("receiver", tuple(ReceiverPc), bound=lambda s: s.phi)
CRASH_CLOCK = "hlfsc"


def sender_correct(s: State) -> Truth:
    return SENDER.correct(s)


def crashed(s: State) -> Truth:
    """The sender has crashed."""
    return s.sender_pc == SenderPc.Crashed


def suspected(s: State) -> Truth:
    """The receiver suspects the sender."""
    flag: Truth = s.suspected
    return flag


def receiver_runs(s: State, step: ReceiverPc) -> Truth:
    """Return whether the receiver is active in this round and takes this step."""
    return RECEIVER.runs(s, step)


def age_messages(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.age())


def send_message(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.send(when=SENDER.is_active(s)))


def is_receiving(s: State) -> Truth:
    return receiver_runs(s, ReceiverPc.Receive)


@dataclass(frozen=True)
class DetectorPhases:
    """The phases that read the variant or the model of computation."""

    variant: Variant
    computation: Computation

    def increment_waiting_time(self, s: State) -> Number:
        goes_on = Or(not self.variant.waiting_time_saturates, s.waiting_time < s.timeout)
        return If(goes_on, s.waiting_time + 1, s.waiting_time)

    def schedule_sender(self, s: State, c: Choices) -> Update:
        may_send = s.sender_timer >= self.variant.least_idle_before_send
        return SENDER.take_turn(s, c, timely=self.computation.timely(s), may_act=may_send)

    def schedule_receiver(self, s: State, c: Choices) -> Update:
        alone = Not(And(self.computation.at_most_one_active, SENDER.is_active(s)))
        return RECEIVER.take_turn(s, c, timely=self.computation.timely(s), may_act=alone)

    def no_send(self, s: State, c: Choices) -> Update:
        active = receiver_runs(s, ReceiverPc.NoSnd)
        return update(waiting_time=If(active, self.increment_waiting_time(s), s.waiting_time))

    def receive(self, s: State, c: Choices) -> Update:
        active = is_receiving(s)
        heard = self.hears(c)
        retracts = And(heard, s.suspected)
        return update(
            # An old message must be delivered at the first opportunity, whatever else is.
            assume=Implies(And(active, s.buffer.has(s.delta), self.computation.timely(s)), c.delivered.has(s.delta)),
            buffer=s.buffer.deliver(c.delivered),
            waiting_time=If(heard, 0, If(active, self.increment_waiting_time(s), s.waiting_time)),
            suspected=And(s.suspected, Not(heard)),
            timeout=If(retracts, s.timeout + 1, s.timeout),
        )

    def hears(self, c: Choices) -> Truth:
        """Return whether a message is delivered, perhaps one of several of age Δ of which others stay."""
        return Or(Not(c.delivered.empty()), c.others_left if self.computation.late else False)

    def can_leave_others(self, s: State) -> Truth:
        return And(Not(self.computation.timely(s)), is_receiving(s), s.buffer.has(s.delta))

    def compute(self, s: State, c: Choices) -> Update:
        active = receiver_runs(s, ReceiverPc.Compute)
        waited = self.increment_waiting_time(s)
        reached = (waited if self.variant.suspects_after_increment else s.waiting_time) >= s.timeout
        return update(
            waiting_time=If(active, waited, s.waiting_time),
            suspected=Or(s.suspected, And(active, reached)),
        )


def list_phases(steps: DetectorPhases, with_crash: bool) -> tuple[Phase, ...]:
    crashing = (SENDER.crash(CRASH_CLOCK),) if with_crash else ()
    others = (Flag("others_left", when=steps.can_leave_others),) if steps.computation.late else ()
    return (
        *crashing,
        Phase("schedule_sender", steps.schedule_sender, (SENDER.build_active_flag(),)),
        Phase("schedule_receiver", steps.schedule_receiver, (RECEIVER.build_active_flag(),)),
        Phase("age_messages", age_messages),
        Phase("send", send_message),
        Phase("no_send", steps.no_send),
        Phase("receive", steps.receive, (Subset("delivered", of="buffer", when=is_receiving), *others)),
        Phase("compute", steps.compute),
    )
