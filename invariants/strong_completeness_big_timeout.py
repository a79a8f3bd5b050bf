"""Strong Completeness with an initial timeout of at least 6Φ+Δ (row 4).

Formulas of Appendix F: there is never a wrong suspicion, so the timeout never changes.  The formulas that Appendix F
shares with Appendix E are imported.
"""

from strong_accuracy import safe_timeout, unchanged_timeout
from strong_completeness_any_timeout import (
    all_delivered,
    crashed,
    crashed_sender_is_idle,
    delivery_overdue,
    delivery_overdue_1_phi,
    delivery_overdue_2_phi,
    message_grows_old,
    no_young_message,
    old_message,
    only_old_messages,
    silent_sender,
    suspected_in_time,
    suspicion_overdue,
    waited_for_timeout,
    waits_longer_in_vain,
    waits_once_delivered,
)

from fdverify import And, Iff, Implies, Not, Proof, State, Truth
from fdverify.detectors.chandra_toueg import sender_correct

proof = Proof("chandra-toueg", goal="strong-completeness", variant="ivy", crash=True, timeout="any")


@proof.assumption
def safe_from_the_start(s: State) -> Truth:
    """The initial timeout is at least 6Φ+Δ."""
    return s.initial_timeout >= 6 * s.phi + s.delta


# (81), (82) and (87)
proof.invariants(safe_timeout, unchanged_timeout, crashed_sender_is_idle)


@proof.invariant
def correct_and_trusted(s: State) -> Truth:
    """(88) The sender is correct exactly while the crash clock rests, and then it is trusted."""
    trusted = And(s.waiting_time < s.timeout, Not(s.suspected))
    return Iff(sender_correct(s), And(s.hlfsc == -1, trusted))


# (90), (91)
proof.invariants(suspected_in_time)


@proof.invariant
def right_suspicion(s: State) -> Truth:
    """(92) A suspicion is right, and nothing will come to end it."""
    return Implies(s.suspected, And(crashed(s), s.waiting_time >= s.timeout, s.buffer.empty()))


# (59)–(62), (94), (65)–(69), (95)–(97) and (73)–(75)
proof.invariants(
    silent_sender,
    message_grows_old,
    old_message,
    waits_longer_in_vain,
    no_young_message,
    only_old_messages,
    all_delivered,
    delivery_overdue_2_phi,
    delivery_overdue_1_phi,
    delivery_overdue,
    waits_once_delivered,
    waited_for_timeout,
    suspicion_overdue,
)
