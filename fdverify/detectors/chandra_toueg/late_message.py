"""How a correct sender comes to be suspected: it sends as late as it may, and its message takes as long as it may.

The receiver is active in every round, so its waiting time grows by one in each.  At a Receive, the waiting time is a
multiple of 3, except before the first delivery.  So there are two such runs: one from the start, and one from a Receive
in which a message is sent and delivered at once.  The timeout decides which of them ends with a suspicion.
"""

from __future__ import annotations

from typing import Any

from fdverify.detectors.chandra_toueg.round_phases import ReceiverPc, Variant, sender_correct
from fdverify.logic import And, If, Implies, Not, Number, Or, Truth
from fdverify.models.planned_runs import WorstRun
from fdverify.models.system import State

_SINCE_RECEIVE = {ReceiverPc.Receive: 0, ReceiverPc.Compute: 1, ReceiverPc.NoSnd: 2}


def build_late_message(variant: Variant) -> WorstRun:
    """Build the run in which a message comes too late for the initial timeout."""
    at_start = -_SINCE_RECEIVE[variant.receiver_starts] % 3
    # The waiting time at the first Receive, and at the first Receive at which the sender may send.
    first_receive = 2 - _SINCE_RECEIVE[variant.receiver_starts]
    first_chance = first_receive + (0 if first_receive >= variant.least_idle_before_send else 3)

    def compute_last_receive(s: State) -> Number:
        """Return the waiting time at the last Receive."""
        return s.waiting_time - _count_steps_since_receive(s)

    def compute_enough(s: State) -> Number:
        """Return the waiting time at a Receive from which the next step suspects."""
        return s.initial_timeout - 1 if variant.suspects_after_increment else s.initial_timeout

    def is_before_chance(s: State) -> Truth:
        """The run is to begin with a delivery, which has not come yet."""
        return And(compute_enough(s) % 3 == 0, compute_last_receive(s) % 3 == at_start)

    def is_at_chance(s: State) -> Truth:
        return And(is_before_chance(s), s.waiting_time == first_chance)

    def is_on_the_way(s: State) -> Truth:
        silent = And(s.sender_timer == s.waiting_time, s.waiting_time < 3 * s.phi)
        beyond = s.waiting_time - 3 * s.phi
        on_its_way = And(beyond >= 0, Not(s.buffer.any(beyond + 1, s.delta)))
        return And(
            sender_correct(s),
            Not(s.suspected),
            s.timeout == s.initial_timeout,
            s.receiver_timer == 0,
            s.waiting_time >= 0,
            s.sender_timer >= 0,
            s.sender_timer < 3 * s.phi,
            Or(compute_last_receive(s) % 3 == compute_enough(s) % 3, is_before_chance(s)),
            Implies(is_before_chance(s), s.waiting_time <= first_chance),
            compute_last_receive(s) <= compute_enough(s),
            Implies(s.receiver_pc != ReceiverPc.Receive, compute_last_receive(s) < compute_enough(s)),
            If(s.buffer.empty(), silent, on_its_way),
        )

    def plan_round(s: State) -> dict[str, Any]:
        return {
            "crash": False,
            "sender_active": Or(is_at_chance(s), s.sender_timer + 1 >= 3 * s.phi),
            "receiver_active": True,
            "delivered": (is_at_chance(s), frozenset({0})),
        }

    def count_rounds_left(s: State) -> Number:
        return s.initial_timeout - s.waiting_time + 3 + If(is_before_chance(s), first_chance + 1, 0)

    return WorstRun("strong-accuracy", is_on_the_way, count_rounds_left, plan_round)


def _count_steps_since_receive(s: State) -> Number:
    return If(
        s.receiver_pc == ReceiverPc.Receive,
        _SINCE_RECEIVE[ReceiverPc.Receive],
        If(
            s.receiver_pc == ReceiverPc.Compute,
            _SINCE_RECEIVE[ReceiverPc.Compute],
            _SINCE_RECEIVE[ReceiverPc.NoSnd],
        ),
    )
