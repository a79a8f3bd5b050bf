"""Eventually Strong Accuracy, for every initial timeout: from timeout ≥ 6Φ+Δ on, a correct sender is trusted (row 2).

Formulas (34)–(36) of Appendix D, with (26)–(32) of Appendix C.
"""

from strong_accuracy import (
    correct_sender,
    message_grows_old,
    old_message,
    silent_sender,
    waits_no_longer,
)

from fdverify import And, Implies, Not, Proof, State, Truth

proof = Proof("chandra-toueg", goal="eventually-strong-accuracy", variant="ivy", timeout="any")


@proof.invariant
def trusted_once_safe(s: State) -> Truth:
    """(34) With a safe timeout the receiver trusts the sender, and has not waited long enough to do otherwise."""
    return Implies(s.timeout >= 6 * s.phi + s.delta, And(Not(s.suspected), s.waiting_time < s.timeout))


@proof.invariant
def safe_timeout_unchanged(s: State) -> Truth:
    """(35) A timeout that is safe from the start never changes."""
    return Implies(s.initial_timeout >= 6 * s.phi + s.delta, s.timeout == s.initial_timeout)


@proof.invariant
def timeout_grows_until_safe(s: State) -> Truth:
    """(36) A timeout that is not safe from the start grows until it is, and no further."""
    safe = 6 * s.phi + s.delta
    return Implies(s.initial_timeout < safe, s.timeout <= safe)


proof.invariants(
    correct_sender,
    silent_sender,
    message_grows_old,
    old_message,
    waits_no_longer,
)
