"""Detectors with one phase wrong, or in another place; and two that certain proofs must reject."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fdverify.detectors.chandra_toueg import ReceiverPc, SenderPc, receiver_runs, sender_correct
from fdverify.logic import And, If, Implies, Min, Not, Or, Truth
from fdverify.models.system import Choices, State, System, Update
from tests.proofs.mutants import (
    ACCURACY,
    ANY,
    BIG,
    EVENTUALLY,
    FIXED,
    HARMLESS,
    NOT_INDUCTIVE,
    VIOLATED,
    Change,
    Effect,
    ModelMutant,
)


def sets(phase: str, **effects: Effect) -> Change:
    """The phase with other new values for some variables."""

    def change(system: System) -> System:
        original = next(p.run for p in system.phases if p.name == phase)

        def run(s: State, c: Choices) -> Update:
            made = original(s, c)
            others = {name: effect(s, c, made.changes) for name, effect in effects.items()}
            return Update({**made.changes, **others}, made.assume)

        return system.with_phase(phase, run)

    return change


def keeps(phase: str, *names: str) -> Change:
    """The phase without its effect on these variables."""
    return sets(phase, **{name: _unchanged(name) for name in names})


def _unchanged(name: str) -> Effect:
    return lambda s, c, made: s[name]


def assumes(phase: str, condition: Callable[[State, Choices], Truth]) -> Change:
    """The phase with another condition on its choices."""

    def change(system: System) -> System:
        original = next(p.run for p in system.phases if p.name == phase)
        return system.with_phase(phase, lambda s, c: Update(original(s, c).changes, condition(s, c)))

    return change


def misreads(phase: str, **by: int) -> Change:
    """The phase as it would be if some numbers that it compares with were off by so much."""

    def change(system: System) -> System:
        original = next(p.run for p in system.phases if p.name == phase)

        def run(s: State, c: Choices) -> Update:
            return original(s.changed({name: s[name] + off for name, off in by.items()}), c)

        return system.with_phase(phase, run)

    return change


def moved(phase: str, before: str | None) -> Change:
    """The phases in another order: one of them before another, or last."""

    def change(system: System) -> System:
        (taken,) = (p for p in system.phases if p.name == phase)
        rest = [p for p in system.phases if p.name != phase]
        at = len(rest) if before is None else [p.name for p in rest].index(before)
        return replace(system, phases=(*rest[:at], taken, *rest[at:]))

    return change


def with_range(variable: str, claim: Callable[[State], Truth], change: Change) -> Change:
    """The change, and a declared range that goes along with it, so that it is left to the conjuncts to notice."""

    def widened(system: System) -> System:
        variables = tuple(replace(v, range=claim) if v.name == variable else v for v in system.variables)
        return change(replace(system, variables=variables))

    return widened


def any_timer(name: str) -> Callable[[State], Truth]:
    return lambda s: s[name] >= 0


def next_step(at_no_send: ReceiverPc, at_receive: ReceiverPc, at_compute: ReceiverPc) -> Effect:
    """The receiver's program counter after each of its steps."""

    def following(s: State, c: Choices, made: Mapping[str, Any]) -> Any:
        others = If(s.receiver_pc == ReceiverPc.Receive, at_receive, at_no_send)
        return If(c.receiver_active, If(s.receiver_pc == ReceiverPc.Compute, at_compute, others), s.receiver_pc)

    return following


def heard(c: Choices) -> Truth:
    return Not(c.delivered.empty())


def computing(s: State) -> Truth:
    return receiver_runs(s, ReceiverPc.Compute)


def suspects_when(reached: Callable[[State, Mapping[str, Any]], Truth]) -> Change:
    """Compute with another reason to suspect."""
    return sets("compute", suspected=lambda s, c, made: Or(s.suspected, And(computing(s), reached(s, made))))


RAISED_ON_EVERY_DELIVERY = sets("receive", timeout=lambda s, c, made: If(heard(c), s.timeout + 1, s.timeout))
TRUSTS_BEYOND_A_TIMEOUT = sets(
    "compute",
    suspected=lambda s, c, made: If(s.timeout > 6 * s.phi + s.delta + 3, s.suspected, made["suspected"]),
)

NO_SEND, RECEIVE, COMPUTE = ReceiverPc.NoSnd, ReceiverPc.Receive, ReceiverPc.Compute

MODEL_MUTANTS = (
    # crash
    ModelMutant(
        "crash",
        "the clock starts at one",
        "ivy",
        FIXED,
        NOT_INDUCTIVE,
        sets("crash", hlfsc=lambda s, c, made: If(c.crash, 1, made["hlfsc"])),
    ),
    ModelMutant(
        "crash",
        "the clock runs twice as fast",
        "tla",
        FIXED,
        VIOLATED,
        sets("crash", hlfsc=lambda s, c, made: If(sender_correct(s), made["hlfsc"], s.hlfsc + 2)),
    ),
    ModelMutant("crash", "the clock is not reset", "ivy", BIG, NOT_INDUCTIVE, keeps("crash", "hlfsc")),
    ModelMutant(
        "crash",
        "the clock runs before the crash",
        "tla",
        ANY,
        VIOLATED,
        with_range(
            "hlfsc", lambda s: s.hlfsc >= -1, sets("crash", hlfsc=lambda s, c, made: If(c.crash, 0, s.hlfsc + 1))
        ),
    ),
    ModelMutant("crash", "the sender goes on", "ivy", ANY, NOT_INDUCTIVE, keeps("crash", "sender_pc")),
    ModelMutant(
        "crash",
        "the sender recovers",
        "tla",
        BIG,
        NOT_INDUCTIVE,
        sets(
            "crash", sender_pc=lambda s, c, made: If(And(Not(c.crash), s.hlfsc >= 2), SenderPc.Send, made["sender_pc"])
        ),
    ),
    ModelMutant("crash", "comes last", "ivy", ANY, NOT_INDUCTIVE, moved("crash", None)),
    ModelMutant("crash", "the sender's timer is not stopped", "ivy", FIXED, HARMLESS, keeps("crash", "sender_timer")),
    # schedule_sender
    ModelMutant(
        "schedule_sender",
        "idles one round longer",
        "ivy",
        ACCURACY,
        NOT_INDUCTIVE,
        assumes("schedule_sender", lambda s, c: Or(c.sender_active, s.sender_timer < 3 * s.phi)),
    ),
    ModelMutant(
        "schedule_sender",
        "idles one round longer, and may",
        "ivy",
        EVENTUALLY,
        NOT_INDUCTIVE,
        with_range(
            "sender_timer",
            any_timer("sender_timer"),
            assumes("schedule_sender", lambda s, c: Or(c.sender_active, s.sender_timer < 3 * s.phi)),
        ),
    ),
    ModelMutant(
        "schedule_sender",
        "idles for ever",
        "tla",
        ACCURACY,
        VIOLATED,
        with_range(
            "sender_timer",
            any_timer("sender_timer"),
            assumes("schedule_sender", lambda s, c: Implies(c.sender_active, s.sender_timer >= 2)),
        ),
    ),
    ModelMutant(
        "schedule_sender",
        "the timer is not reset",
        "tla",
        EVENTUALLY,
        VIOLATED,
        sets(
            "schedule_sender", sender_timer=lambda s, c, made: If(c.sender_active, s.sender_timer, s.sender_timer + 1)
        ),
    ),
    ModelMutant(
        "schedule_sender",
        "the timer stands still from one on",
        "ivy",
        ACCURACY,
        VIOLATED,
        sets("schedule_sender", sender_timer=lambda s, c, made: Min(made["sender_timer"], 1)),
    ),
    ModelMutant(
        "schedule_sender",
        "a crashed sender counts on",
        "tla",
        FIXED,
        NOT_INDUCTIVE,
        sets("schedule_sender", sender_timer=lambda s, c, made: If(c.sender_active, 0, s.sender_timer + 1)),
    ),
    ModelMutant(
        "schedule_sender", "comes after send", "tla", ACCURACY, NOT_INDUCTIVE, moved("schedule_sender", "no_send")
    ),
    ModelMutant(
        "schedule_sender",
        "comes after schedule_receiver",
        "ivy",
        ACCURACY,
        HARMLESS,
        moved("schedule_sender", "age_messages"),
    ),
    # schedule_receiver
    ModelMutant(
        "schedule_receiver",
        "idles one round longer",
        "tla",
        FIXED,
        VIOLATED,
        misreads("schedule_receiver", phi=1),
    ),
    ModelMutant(
        "schedule_receiver",
        "idles one round longer, and may",
        "ivy",
        FIXED,
        VIOLATED,
        with_range("receiver_timer", any_timer("receiver_timer"), misreads("schedule_receiver", phi=1)),
    ),
    ModelMutant(
        "schedule_receiver",
        "idles for ever",
        "tla",
        ANY,
        VIOLATED,
        with_range("receiver_timer", any_timer("receiver_timer"), assumes("schedule_receiver", lambda s, c: True)),
    ),
    ModelMutant(
        "schedule_receiver",
        "the timer is not reset",
        "ivy",
        BIG,
        VIOLATED,
        sets(
            "schedule_receiver",
            receiver_timer=lambda s, c, made: If(c.receiver_active, s.receiver_timer, s.receiver_timer + 1),
        ),
    ),
    ModelMutant(
        "schedule_receiver",
        "computes before it receives",
        "tla",
        ACCURACY,
        NOT_INDUCTIVE,
        sets("schedule_receiver", receiver_pc=next_step(COMPUTE, NO_SEND, RECEIVE)),
    ),
    ModelMutant(
        "schedule_receiver",
        "leaves out Receive",
        "ivy",
        ACCURACY,
        VIOLATED,
        sets("schedule_receiver", receiver_pc=next_step(COMPUTE, COMPUTE, NO_SEND)),
    ),
    ModelMutant(
        "schedule_receiver",
        "leaves out Compute",
        "tla",
        BIG,
        VIOLATED,
        sets("schedule_receiver", receiver_pc=next_step(RECEIVE, NO_SEND, NO_SEND)),
    ),
    ModelMutant(
        "schedule_receiver",
        "goes on while idle",
        "ivy",
        EVENTUALLY,
        VIOLATED,
        sets(
            "schedule_receiver",
            receiver_pc=lambda s, c, made: If(
                s.receiver_pc == COMPUTE, NO_SEND, If(s.receiver_pc == RECEIVE, COMPUTE, RECEIVE)
            ),
        ),
    ),
    ModelMutant("schedule_receiver", "comes last", "ivy", ACCURACY, NOT_INDUCTIVE, moved("schedule_receiver", None)),
    # age_messages
    ModelMutant("age_messages", "never", "ivy", ACCURACY, VIOLATED, keeps("age_messages", "buffer")),
    ModelMutant("age_messages", "never, after a crash", "tla", FIXED, VIOLATED, keeps("age_messages", "buffer")),
    ModelMutant(
        "age_messages",
        "old ones are lost",
        "tla",
        EVENTUALLY,
        VIOLATED,
        sets("age_messages", buffer=lambda s, c, made: made["buffer"].deliver(s.buffer)),
    ),
    ModelMutant(
        "age_messages",
        "conjures up a message",
        "ivy",
        ANY,
        VIOLATED,
        sets("age_messages", buffer=lambda s, c, made: made["buffer"].send(when=True)),
    ),
    ModelMutant(
        "age_messages", "comes after receive", "tla", ACCURACY, NOT_INDUCTIVE, moved("age_messages", "compute")
    ),
    ModelMutant("age_messages", "comes first", "tla", ACCURACY, HARMLESS, moved("age_messages", "schedule_sender")),
    # send
    ModelMutant(
        "send",
        "a crashed sender sends",
        "ivy",
        FIXED,
        VIOLATED,
        sets("send", buffer=lambda s, c, made: s.buffer.send(when=s.sender_timer == 0)),
    ),
    ModelMutant(
        "send",
        "a round late",
        "tla",
        ACCURACY,
        NOT_INDUCTIVE,
        sets("send", buffer=lambda s, c, made: s.buffer.send(when=And(s.sender_timer == 1, sender_correct(s)))),
    ),
    ModelMutant("send", "never", "ivy", ACCURACY, VIOLATED, keeps("send", "buffer")),
    ModelMutant(
        "send",
        "a new message replaces all others",
        "tla",
        ACCURACY,
        VIOLATED,
        sets(
            "send",
            buffer=lambda s, c, made: s.buffer.deliver(s.buffer).send(when=And(s.sender_timer == 0, sender_correct(s))),
        ),
    ),
    ModelMutant(
        "send",
        "does not ask whether the sender crashed, where none does",
        "tla",
        ACCURACY,
        HARMLESS,
        sets("send", buffer=lambda s, c, made: s.buffer.send(when=s.sender_timer == 0)),
    ),
    # no_send
    ModelMutant("no_send", "does not wait", "ivy", FIXED, VIOLATED, keeps("no_send", "waiting_time")),
    ModelMutant(
        "no_send",
        "waits twice",
        "tla",
        ACCURACY,
        NOT_INDUCTIVE,
        sets("no_send", waiting_time=lambda s, c, made: 2 * made["waiting_time"] - s.waiting_time),
    ),
    ModelMutant(
        "no_send",
        "waits while idle",
        "ivy",
        ACCURACY,
        NOT_INDUCTIVE,
        sets(
            "no_send", waiting_time=lambda s, c, made: If(s.receiver_pc == NO_SEND, s.waiting_time + 1, s.waiting_time)
        ),
    ),
    ModelMutant(
        "no_send",
        "waits in every step",
        "ivy",
        EVENTUALLY,
        VIOLATED,
        sets("no_send", waiting_time=lambda s, c, made: If(s.receiver_timer == 0, s.waiting_time + 1, s.waiting_time)),
    ),
    ModelMutant(
        "no_send",
        "does not saturate",
        "tla",
        BIG,
        NOT_INDUCTIVE,
        sets(
            "no_send",
            waiting_time=lambda s, c, made: If(receiver_runs(s, NO_SEND), s.waiting_time + 1, s.waiting_time),
        ),
    ),
    ModelMutant(
        "no_send",
        "forgets the wait",
        "tla",
        ANY,
        VIOLATED,
        sets("no_send", waiting_time=lambda s, c, made: If(receiver_runs(s, NO_SEND), 0, s.waiting_time)),
    ),
    ModelMutant("no_send", "comes after compute", "ivy", ACCURACY, HARMLESS, moved("no_send", None)),
    # receive
    ModelMutant("receive", "old messages may wait", "ivy", ACCURACY, VIOLATED, assumes("receive", lambda s, c: True)),
    ModelMutant("receive", "old messages may wait", "tla", EVENTUALLY, VIOLATED, assumes("receive", lambda s, c: True)),
    ModelMutant(
        "receive", "old messages are those of age Δ-1", "tla", ACCURACY, VIOLATED, misreads("receive", delta=-1)
    ),
    ModelMutant(
        "receive",
        "the wait is not reset",
        "ivy",
        EVENTUALLY,
        VIOLATED,
        sets("receive", waiting_time=lambda s, c, made: If(heard(c), s.waiting_time + 1, made["waiting_time"])),
    ),
    ModelMutant(
        "receive",
        "the wait is reset to one",
        "tla",
        ACCURACY,
        NOT_INDUCTIVE,
        sets("receive", waiting_time=lambda s, c, made: If(heard(c), 1, made["waiting_time"])),
    ),
    ModelMutant(
        "receive", "the suspicion is not retracted", "tla", EVENTUALLY, VIOLATED, keeps("receive", "suspected")
    ),
    ModelMutant("receive", "messages stay", "ivy", ANY, VIOLATED, keeps("receive", "buffer")),
    ModelMutant(
        "receive",
        "the timeout is raised by two",
        "ivy",
        EVENTUALLY,
        NOT_INDUCTIVE,
        sets("receive", timeout=lambda s, c, made: 2 * made["timeout"] - s.timeout),
    ),
    ModelMutant(
        "receive",
        "the timeout is lowered",
        "tla",
        EVENTUALLY,
        NOT_INDUCTIVE,
        sets("receive", timeout=lambda s, c, made: 2 * s.timeout - made["timeout"]),
    ),
    ModelMutant(
        "receive",
        "the timeout is not raised, where it never is",
        "tla",
        ACCURACY,
        HARMLESS,
        keeps("receive", "timeout"),
    ),
    # compute
    ModelMutant("compute", "suspects at once", "ivy", ACCURACY, VIOLATED, suspects_when(lambda s, made: True)),
    ModelMutant(
        "compute",
        "suspects after a third of the timeout",
        "tla",
        ACCURACY,
        VIOLATED,
        suspects_when(lambda s, made: 3 * s.waiting_time >= s.timeout),
    ),
    ModelMutant("compute", "never suspects", "tla", ANY, VIOLATED, keeps("compute", "suspected")),
    ModelMutant(
        "compute",
        "suspects beyond the timeout only",
        "tla",
        FIXED,
        VIOLATED,
        suspects_when(lambda s, made: s.waiting_time > s.timeout),
    ),
    ModelMutant(
        "compute",
        "suspects after twice the timeout",
        "ivy",
        ANY,
        VIOLATED,
        suspects_when(lambda s, made: made["waiting_time"] >= 2 * s.timeout),
    ),
    ModelMutant(
        "compute",
        "suspects at the timeout exactly",
        "ivy",
        BIG,
        VIOLATED,
        suspects_when(lambda s, made: made["waiting_time"] == s.timeout),
    ),
    ModelMutant(
        "compute",
        "forgets the suspicion",
        "ivy",
        FIXED,
        VIOLATED,
        sets("compute", suspected=lambda s, c, made: And(computing(s), made["waiting_time"] >= s.timeout)),
    ),
    ModelMutant(
        "compute",
        "suspects one early, where there is room",
        "ivy",
        ACCURACY,
        HARMLESS,
        misreads("compute", timeout=-1),
    ),
)
