"""Proofs with one conjunct weakened, sharpened or dropped."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fdverify.detectors.chandra_toueg import ReceiverPc, SenderPc
from fdverify.logic import And, Implies, Not, Truth
from fdverify.models.system import Property, State
from tests.proofs.mutants import (
    ACCURACY,
    ANY,
    BIG,
    EVENTUALLY,
    FIXED,
    HARMLESS,
    NOT_INDUCTIVE,
    Conjuncts,
    ProofMutant,
)


def dropped(name: str) -> Callable[[Conjuncts], Conjuncts]:
    return lambda conjuncts: tuple(conjunct for conjunct in conjuncts if conjunct.name != name)


def instead(name: str, predicate: Callable[[State], Truth]) -> Callable[[Conjuncts], Conjuncts]:
    """Another claim in a conjunct's place."""
    return lambda conjuncts: tuple(replace(c, holds=predicate) if c.name == name else c for c in conjuncts)


def off(name: str, **by: int) -> Callable[[Conjuncts], Conjuncts]:
    """A conjunct whose bounds on some values are off by so much: it is told values that are."""

    def shifted(conjunct: Property) -> Property:
        return replace(conjunct, holds=lambda s: conjunct.holds(s.changed({n: s[n] + k for n, k in by.items()})))

    return lambda conjuncts: tuple(shifted(c) if c.name == name else c for c in conjuncts)


def safe(s: State) -> Any:
    return 6 * s.phi + s.delta


def strictly_safe_timeout(s: State) -> Truth:
    return s.timeout > safe(s)


def trusted_up_to_the_timeout(s: State) -> Truth:
    return And(Not(s.suspected), s.waiting_time <= s.timeout)


def sender_idle_for_longer(s: State) -> Truth:
    waited = And(s.waiting_time > 0, s.waiting_time < 3 * s.phi)
    return Implies(And(s.buffer.empty(), waited), s.sender_timer > s.waiting_time)


def sender_idle_up_to_3_phi(s: State) -> Truth:
    waited = And(s.waiting_time > 0, s.waiting_time <= 3 * s.phi)
    return Implies(And(s.buffer.empty(), waited), s.sender_timer >= s.waiting_time)


def message_older_than_the_wait(s: State) -> Truth:
    beyond = s.waiting_time - 3 * s.phi
    return Implies(And(beyond >= 0, beyond < s.delta), s.buffer.any(beyond + 1, s.delta))


def message_from_after_3_phi(s: State) -> Truth:
    beyond = s.waiting_time - 3 * s.phi
    return Implies(And(beyond > 0, beyond < s.delta), s.buffer.any(beyond, s.delta))


def old_message_later(s: State) -> Truth:
    return Implies(s.waiting_time > 3 * s.phi + s.delta, s.buffer.has(s.delta))


def waits_less_after_compute(s: State) -> Truth:
    delivered = 3 * s.phi + s.delta
    return And(
        Implies(s.receiver_pc == ReceiverPc.Receive, s.waiting_time < delivered),
        Implies(s.receiver_pc == ReceiverPc.Compute, s.waiting_time < delivered),
        s.waiting_time <= delivered + 1,
    )


def waits_without_receive(s: State) -> Truth:
    delivered = 3 * s.phi + s.delta
    return And(
        Implies(s.receiver_pc == ReceiverPc.Compute, s.waiting_time <= delivered), s.waiting_time <= delivered + 1
    )


def trusted_beyond_safe(s: State) -> Truth:
    return Implies(s.timeout > safe(s), And(Not(s.suspected), s.waiting_time < s.timeout))


def trusted_but_for_the_wait(s: State) -> Truth:
    return Implies(s.timeout >= safe(s), Not(s.suspected))


def timeout_stays_below_safe(s: State) -> Truth:
    return Implies(s.initial_timeout < safe(s), s.timeout < safe(s))


def unchanged_from_just_below_safe(s: State) -> Truth:
    return Implies(s.initial_timeout >= safe(s) - 1, s.timeout == s.initial_timeout)


def suspicion_without_a_wait(s: State) -> Truth:
    return Implies(s.suspected, And(s.sender_pc == SenderPc.Crashed, s.buffer.empty()))


def suspected_strictly_after_timeout(s: State) -> Truth:
    return Implies(s.suspected, s.waiting_time > s.timeout)


def delivered_strictly_later(s: State) -> Truth:
    return Implies(s.hlfsc > 3 * s.phi + s.delta, s.buffer.empty())


def no_message_as_young(s: State) -> Truth:
    return Implies(And(s.hlfsc >= 0, s.hlfsc <= s.delta), Not(s.buffer.any(0, s.hlfsc)))


def overdue_at_least(s: State) -> Truth:
    overdue = s.hlfsc - s.delta
    in_transit = And(overdue >= 0, overdue < s.phi, Not(s.buffer.empty()))
    return Implies(And(in_transit, s.receiver_pc == ReceiverPc.Receive), s.receiver_timer >= overdue)


def waits_strictly_once_delivered(s: State) -> Truth:
    delivered = 3 * s.phi + s.delta
    waits = s.hlfsc < delivered + s.phi * s.waiting_time + s.receiver_timer
    return Implies(And(s.hlfsc >= delivered, s.waiting_time < s.timeout), waits)


PROOF_MUTANTS = (
    # Strong Accuracy
    ProofMutant(ACCURACY, "correct_sender dropped", "ivy", NOT_INDUCTIVE, dropped("correct_sender")),
    ProofMutant(ACCURACY, "trusted dropped", "tla", NOT_INDUCTIVE, dropped("trusted")),
    ProofMutant(ACCURACY, "silent_sender dropped", "ivy", NOT_INDUCTIVE, dropped("silent_sender")),
    ProofMutant(ACCURACY, "message_grows_old dropped", "tla", NOT_INDUCTIVE, dropped("message_grows_old")),
    ProofMutant(ACCURACY, "unchanged_timeout dropped", "ivy", HARMLESS, dropped("unchanged_timeout")),
    ProofMutant(
        ACCURACY, "safe_timeout > for >=", "ivy", NOT_INDUCTIVE, instead("safe_timeout", strictly_safe_timeout)
    ),
    ProofMutant(ACCURACY, "trusted <= for <", "ivy", HARMLESS, instead("trusted", trusted_up_to_the_timeout)),
    ProofMutant(
        ACCURACY, "silent_sender > for >=", "tla", NOT_INDUCTIVE, instead("silent_sender", sender_idle_for_longer)
    ),
    ProofMutant(ACCURACY, "silent_sender <= 3Φ", "ivy", HARMLESS, instead("silent_sender", sender_idle_up_to_3_phi)),
    ProofMutant(
        ACCURACY,
        "message_grows_old one older",
        "ivy",
        NOT_INDUCTIVE,
        instead("message_grows_old", message_older_than_the_wait),
    ),
    ProofMutant(
        ACCURACY,
        "message_grows_old > for >=",
        "tla",
        NOT_INDUCTIVE,
        instead("message_grows_old", message_from_after_3_phi),
    ),
    ProofMutant(ACCURACY, "old_message > for >=", "ivy", NOT_INDUCTIVE, instead("old_message", old_message_later)),
    ProofMutant(
        ACCURACY, "waits_no_longer < for <=", "tla", NOT_INDUCTIVE, instead("waits_no_longer", waits_less_after_compute)
    ),
    ProofMutant(
        ACCURACY,
        "waits_no_longer without Receive",
        "ivy",
        NOT_INDUCTIVE,
        instead("waits_no_longer", waits_without_receive),
    ),
    # Eventually Strong Accuracy
    ProofMutant(EVENTUALLY, "trusted_once_safe dropped", "ivy", NOT_INDUCTIVE, dropped("trusted_once_safe")),
    ProofMutant(
        EVENTUALLY,
        "trusted_once_safe > for >=",
        "tla",
        NOT_INDUCTIVE,
        instead("trusted_once_safe", trusted_beyond_safe),
    ),
    ProofMutant(
        EVENTUALLY,
        "trusted_once_safe without the wait",
        "ivy",
        HARMLESS,
        instead("trusted_once_safe", trusted_but_for_the_wait),
    ),
    ProofMutant(
        EVENTUALLY,
        "timeout_grows_until_safe < for <=",
        "ivy",
        NOT_INDUCTIVE,
        instead("timeout_grows_until_safe", timeout_stays_below_safe),
    ),
    ProofMutant(
        EVENTUALLY,
        "safe_timeout_unchanged from one less",
        "tla",
        NOT_INDUCTIVE,
        instead("safe_timeout_unchanged", unchanged_from_just_below_safe),
    ),
    ProofMutant(EVENTUALLY, "old_message dropped", "tla", NOT_INDUCTIVE, dropped("old_message")),
    ProofMutant(EVENTUALLY, "waits_no_longer dropped", "ivy", NOT_INDUCTIVE, dropped("waits_no_longer")),
    ProofMutant(EVENTUALLY, "silent_sender for Φ-1", "ivy", NOT_INDUCTIVE, off("silent_sender", phi=-1)),
    ProofMutant(EVENTUALLY, "waits_no_longer one less", "tla", NOT_INDUCTIVE, off("waits_no_longer", waiting_time=1)),
    ProofMutant(EVENTUALLY, "timeout_grows_until_safe dropped", "ivy", HARMLESS, dropped("timeout_grows_until_safe")),
    # Strong Completeness, timeout 6Φ+Δ
    ProofMutant(FIXED, "fixed_timeout one more", "ivy", NOT_INDUCTIVE, off("fixed_timeout", timeout=-1)),
    ProofMutant(
        FIXED, "right_suspicion without the wait", "ivy", HARMLESS, instead("right_suspicion", suspicion_without_a_wait)
    ),
    ProofMutant(FIXED, "no_young_message dropped", "ivy", NOT_INDUCTIVE, dropped("no_young_message")),
    ProofMutant(
        FIXED, "no_young_message <= for <", "tla", NOT_INDUCTIVE, instead("no_young_message", no_message_as_young)
    ),
    ProofMutant(FIXED, "delivery_overdue dropped", "ivy", NOT_INDUCTIVE, dropped("delivery_overdue")),
    ProofMutant(FIXED, "delivery_overdue >= for >", "ivy", HARMLESS, instead("delivery_overdue", overdue_at_least)),
    # Strong Completeness, timeout at least 6Φ+Δ
    ProofMutant(BIG, "safe_timeout > for >=", "tla", NOT_INDUCTIVE, instead("safe_timeout", strictly_safe_timeout)),
    ProofMutant(BIG, "right_suspicion dropped", "ivy", NOT_INDUCTIVE, dropped("right_suspicion")),
    ProofMutant(BIG, "correct_and_trusted one round early", "ivy", NOT_INDUCTIVE, off("correct_and_trusted", hlfsc=1)),
    ProofMutant(BIG, "correct_and_trusted dropped", "ivy", HARMLESS, dropped("correct_and_trusted")),
    ProofMutant(
        BIG, "crashed_sender_is_idle a round late", "tla", NOT_INDUCTIVE, off("crashed_sender_is_idle", hlfsc=-1)
    ),
    ProofMutant(BIG, "only_old_messages a round early", "ivy", NOT_INDUCTIVE, off("only_old_messages", delta=1)),
    ProofMutant(BIG, "waits_longer_in_vain dropped", "tla", NOT_INDUCTIVE, dropped("waits_longer_in_vain")),
    ProofMutant(
        BIG, "delivery_overdue_2_phi one less", "ivy", NOT_INDUCTIVE, off("delivery_overdue_2_phi", receiver_timer=1)
    ),
    ProofMutant(BIG, "all_delivered > for >=", "ivy", HARMLESS, instead("all_delivered", delivered_strictly_later)),
    # Strong Completeness, any timeout
    ProofMutant(
        ANY,
        "suspected_after_timeout > for >=",
        "ivy",
        NOT_INDUCTIVE,
        instead("suspected_after_timeout", suspected_strictly_after_timeout),
    ),
    ProofMutant(ANY, "suspected_after_timeout dropped", "tla", NOT_INDUCTIVE, dropped("suspected_after_timeout")),
    ProofMutant(ANY, "old_message dropped", "ivy", NOT_INDUCTIVE, dropped("old_message")),
    ProofMutant(ANY, "delivery_overdue_1_phi dropped", "tla", NOT_INDUCTIVE, dropped("delivery_overdue_1_phi")),
    ProofMutant(
        ANY,
        "waits_once_delivered < for <=",
        "ivy",
        NOT_INDUCTIVE,
        instead("waits_once_delivered", waits_strictly_once_delivered),
    ),
    ProofMutant(ANY, "suspicion_overdue dropped", "tla", NOT_INDUCTIVE, dropped("suspicion_overdue")),
    ProofMutant(ANY, "suspected_in_time a round early", "ivy", NOT_INDUCTIVE, off("suspected_in_time", hlfsc=1)),
    ProofMutant(ANY, "waited_for_timeout one more", "ivy", NOT_INDUCTIVE, off("waited_for_timeout", waiting_time=-1)),
    ProofMutant(ANY, "safe_suspicion dropped", "ivy", HARMLESS, dropped("safe_suspicion")),
)
