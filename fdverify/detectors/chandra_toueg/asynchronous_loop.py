"""How accuracy fails forever under asynchrony: each wrong suspicion is followed by another."""

from __future__ import annotations

from typing import Any

from fdverify.detectors.chandra_toueg.round_phases import ReceiverPc, sender_correct
from fdverify.logic import And, If, Implies, Max, Min, Not, Number, Truth
from fdverify.models.planned_runs import GrowingLoop
from fdverify.models.system import (
    State,
)


def _is_just_retracted(s: State) -> Truth:
    """The sender was just heard while it was suspected; the loop starts again, with a longer timeout."""
    return And(
        Not(s.suspected),
        s.waiting_time == 0,
        s.buffer.empty(),
        sender_correct(s),
        s.receiver_pc == ReceiverPc.Receive,
        s.sender_timer == 1,
        s.receiver_timer == 0,
    )


def _plan_round(s: State) -> dict[str, Any]:
    """Let the sender idle until it is suspected and send right before Receive, where its message is one round old."""
    sends = And(s.suspected, s.receiver_pc == ReceiverPc.NoSnd, s.buffer.empty())
    return {
        "crash": False,
        "sender_active": sends,
        "receiver_active": Not(sends),
        "delivered": frozenset({0, 1}),
        "others_left": False,
    }


def _is_before_retraction(s: State) -> Truth:
    """The sender has idled (for two rounds when it is about to send), or has just sent the only message."""
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


def _count_rounds_to_retraction(s: State) -> Number:
    """Bound the rounds: a cycle of the receiver for each step it still waits, the way to Compute, and three more."""
    before_receive = s.receiver_pc == ReceiverPc.NoSnd
    until_compute = If(before_receive, 2, If(s.receiver_pc == ReceiverPc.Receive, 1, 3))
    once_suspected = If(before_receive, If(s.buffer.empty(), 2, 1), 3)
    return If(s.suspected, once_suspected, 3 * Max(s.timeout - s.waiting_time, 0) + until_compute + 3)


SUSPECTED_AGAIN = GrowingLoop(
    breaks="eventually-strong-accuracy",
    grows="timeout",
    least=1,
    starts=_is_just_retracted,
    within=_is_before_retraction,
    left=_count_rounds_to_retraction,
    plan=_plan_round,
)
