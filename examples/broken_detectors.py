"""Detectors with one defect each, to see what each assumption is for.

    fdverify bmc examples/broken_detectors.py:LOSSY --delta 1 --phi 1

Each is the shipped detector with a single phase replaced, and has the same parameters, options and properties.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fdverify import CHANDRA_TOUEG, And, Choices, If, Implies, Max, Min, Model, Not, Or, State, System, Update, update
from fdverify.detectors.chandra_toueg import ReceiverPc, receiver_runs, sender_correct


def _broken(name: str, summary: str, change: Callable[[System], System]) -> Model:
    def build(**chosen: Any) -> System:
        return replace(change(CHANDRA_TOUEG.build(**chosen)), name=name)

    return replace(CHANDRA_TOUEG, name=name, summary=summary, build=build)


def _without_obligation(system: System) -> System:
    """Drop the obligation to deliver an old message: it may stay in transit forever."""
    receive = system.phase("receive")
    return system.with_phase("receive", lambda s, c: update(**receive.run(s, c).changes))


def _sleep_longer(system: System) -> System:
    """Let the receiver idle one round more than the bound allows."""
    schedule = system.phase("schedule_receiver")

    def run(s: State, c: Choices) -> Update:
        return replace(schedule.run(s, c), assume=Or(c.receiver_active, s.receiver_timer < s.phi))

    return system.with_phase("schedule_receiver", run)


def _send_later(s: State, c: Choices) -> Update:
    """Let the sender idle one round more than three steps take at the slowest speed."""
    correct = sender_correct(s)
    return update(
        assume=Implies(correct, If(c.sender_active, s.sender_timer >= 2, s.sender_timer < 3 * s.phi)),
        sender_timer=If(And(correct, Not(c.sender_active)), s.sender_timer + 1, 0),
    )


def _suspect_early(s: State, c: Choices) -> Update:
    """Suspect when waiting_time is still one short of the timeout."""
    active = receiver_runs(s, ReceiverPc.Compute)
    waited = If(s.waiting_time < s.timeout, s.waiting_time + 1, s.waiting_time)
    return update(
        waiting_time=If(active, waited, s.waiting_time),
        suspected=Or(s.suspected, And(active, s.waiting_time >= s.timeout - 1)),
    )


def _keep_timeout(system: System) -> System:
    """Keep the timeout as it is after a wrong suspicion."""
    receive = system.phase("receive")

    def run(s: State, c: Choices) -> Update:
        made = receive.run(s, c)
        return replace(made, changes={**made.changes, "timeout": s.timeout})

    return system.with_phase("receive", run)


def _never_suspect(s: State, c: Choices) -> Update:
    """Count in Compute, but never suspect."""
    active = receiver_runs(s, ReceiverPc.Compute)
    return update(waiting_time=If(And(active, s.waiting_time < s.timeout), s.waiting_time + 1, s.waiting_time))


def _may_stop(system: System) -> System:
    """Let the receiver idle forever; its timer then stops at the bound."""
    schedule = system.phase("schedule_receiver")

    def run(s: State, c: Choices) -> Update:
        timer = If(c.receiver_active, 0, Min(s.receiver_timer + 1, s.phi))
        return update(**{**schedule.run(s, c).changes, "receiver_timer": timer})

    return system.with_phase("schedule_receiver", run)


def _forget(system: System) -> System:
    """Lower the timeout again while nothing is heard, so that what was learned is forgotten."""
    no_send = system.phase("no_send")

    def run(s: State, c: Choices) -> Update:
        active = receiver_runs(s, ReceiverPc.NoSnd)
        timeout = If(And(active, Not(s.suspected)), Max(1, s.timeout - 1), s.timeout)
        return replace(no_send.run(s, c), changes={**no_send.run(s, c).changes, "timeout": timeout})

    return system.with_phase("no_send", run)


def _stop_time(system: System) -> System:
    """Allow no round while the sender is suspected."""
    schedule = system.phase("schedule_sender")

    def run(s: State, c: Choices) -> Update:
        made = schedule.run(s, c)
        return replace(made, assume=And(made.assume, Not(s.suspected)))

    return system.with_phase("schedule_sender", run)


def _receive_before_ageing(system: System) -> System:
    """Receive before messages grow older and a new one is sent, so that every delivery may come a round later."""
    names = [phase.name for phase in system.phases]
    names.remove("receive")
    names.insert(names.index("age_messages"), "receive")
    phases = {phase.name: phase for phase in system.phases}
    return replace(system, phases=tuple(phases[name] for name in names))


LOSSY = _broken("lossy", "messages may be lost", _without_obligation)
SLEEPY_RECEIVER = _broken("sleepy-receiver", "the receiver may sleep too long", _sleep_longer)
LATE_SENDER = _broken(
    "late-sender", "the sender may send too late", lambda s: s.with_phase("schedule_sender", _send_later)
)
HASTY_RECEIVER = _broken(
    "hasty-receiver", "the receiver suspects one step early", lambda s: s.with_phase("compute", _suspect_early)
)
STUBBORN = _broken("stubborn", "a wrong suspicion does not raise the timeout", _keep_timeout)
TRUSTING = _broken("trusting", "the receiver never suspects", lambda s: s.with_phase("compute", _never_suspect))
LAZY_RECEIVER = _broken("lazy-receiver", "the receiver may stop", _may_stop)
FORGETFUL = _broken("forgetful", "the timeout falls while nothing is heard", _forget)
STOPPING = _broken("stopping", "time stops while the sender is suspected", _stop_time)
LATE_AGEING = _broken("late-ageing", "receive comes before ageing", _receive_before_ageing)
