"""How a correct sender comes to be suspected: it sends as late as it may, and its message takes as long as it may.

The receiver is active in every round, so its waiting time grows by one in each.  At a Receive, the waiting time is a
multiple of 3, except before the first delivery.  So there are two such runs: one from the start, and one from a Receive
in which a message is sent and delivered at once.  The timeout decides which of them ends with a suspicion.
"""

from __future__ import annotations

from typing import Any

from fdverify.logic import And, If, Implies, Not, Number, Or, Truth
from fdverify.models.chandra_toueg.phases import ReceiverPc, Variant, sender_correct
from fdverify.models.system import State
from fdverify.models.worst_run import WorstRun

_SINCE_RECEIVE = {ReceiverPc.Receive: 0, ReceiverPc.Compute: 1, ReceiverPc.NoSnd: 2}


def late_message(variant: Variant) -> WorstRun:
    """Build the run in which a message comes too late for the initial timeout."""
    at_start = -_SINCE_RECEIVE[variant.receiver_starts] % 3
    # The waiting time at the first Receive, and at the first Receive at which the sender may send.
    first_receive = 2 - _SINCE_RECEIVE[variant.receiver_starts]
    first_chance = first_receive + (0 if first_receive >= variant.least_idle_before_send else 3)

    def last_receive(s: State) -> Number:
        """Return the waiting time at the last Receive."""
        return s.waiting_time - _since_receive(s)

    def enough(s: State) -> Number:
        """Return the waiting time at a Receive from which the next step suspects."""
        return s.initial_timeout - 1 if variant.suspects_after_increment else s.initial_timeout

    def waits_for_chance(s: State) -> Truth:
        """The run is to begin with a delivery, which has not come yet."""
        return And(enough(s) % 3 == 0, last_receive(s) % 3 == at_start)

    def takes_chance(s: State) -> Truth:
        return And(waits_for_chance(s), s.waiting_time == first_chance)

    def within(s: State) -> Truth:
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
            Or(last_receive(s) % 3 == enough(s) % 3, waits_for_chance(s)),
            Implies(waits_for_chance(s), s.waiting_time <= first_chance),
            last_receive(s) <= enough(s),
            Implies(s.receiver_pc != ReceiverPc.Receive, last_receive(s) < enough(s)),
            If(s.buffer.empty(), silent, on_its_way),
        )

    def plan(s: State) -> dict[str, Any]:
        return {
            "crash": False,
            "sender_active": Or(takes_chance(s), s.sender_timer + 1 >= 3 * s.phi),
            "receiver_active": True,
            "delivered": (takes_chance(s), frozenset({0})),
        }

    def left(s: State) -> Number:
        return s.initial_timeout - s.waiting_time + 3 + If(waits_for_chance(s), first_chance + 1, 0)

    return WorstRun("strong-accuracy", within, left, plan)


def _since_receive(s: State) -> Number:
    return If(
        s.receiver_pc == ReceiverPc.Receive,
        _SINCE_RECEIVE[ReceiverPc.Receive],
        If(
            s.receiver_pc == ReceiverPc.Compute,
            _SINCE_RECEIVE[ReceiverPc.Compute],
            _SINCE_RECEIVE[ReceiverPc.NoSnd],
        ),
    )
