"""Strong Accuracy with the safe initial timeout: a correct sender is never suspected (row 1 of Table 4).

The numbers in parentheses are those of the formulas in the paper's Appendix C.  Its type invariants (15), (17)–(19)
and (21)–(23) are the declared ranges of parameters and variables, which are proved as part of every proof.
"""

from fdverify import And, Implies, Not, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc, sender_correct

proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy", timeout="6*phi+delta")


@proof.invariant
def correct_sender(s: State) -> Truth:
    """(16) The sender does not crash."""
    return sender_correct(s)


@proof.invariant
def safe_timeout(s: State) -> Truth:
    """(20) The timeout is long enough."""
    return s.timeout >= 6 * s.phi + s.delta


@proof.invariant
def unchanged_timeout(s: State) -> Truth:
    """(24) The timeout never changes."""
    return s.timeout == s.initial_timeout


@proof.invariant
def trusted(s: State) -> Truth:
    """(25) The receiver trusts the sender, and has not waited long enough to do otherwise."""
    return And(Not(s.suspected), s.waiting_time < s.timeout)


@proof.invariant
def silent_sender(s: State) -> Truth:
    """(26) While nothing is in transit, the sender has been idle as long as the receiver has waited."""
    waited = And(s.waiting_time > 0, s.waiting_time < 3 * s.phi)
    return Implies(And(s.buffer.empty(), waited), s.sender_timer >= s.waiting_time)


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """(27) After 3Φ of waiting, a message is in transit that is as old as the receiver has waited beyond."""
    beyond = s.waiting_time - 3 * s.phi
    return Implies(And(beyond >= 0, beyond < s.delta), s.buffer.any(beyond, s.delta))


@proof.invariant
def old_message(s: State) -> Truth:
    """(28) After 3Φ+Δ of waiting, a message of age Δ is in transit."""
    return Implies(s.waiting_time >= 3 * s.phi + s.delta, s.buffer.has(s.delta))


@proof.invariant
def waits_no_longer(s: State) -> Truth:
    """(29)–(32) How long the receiver waits at most: less than 3Φ+Δ after Receive, one more after each other step."""
    delivered = 3 * s.phi + s.delta
    return And(
        Implies(s.receiver_pc == ReceiverPc.Receive, s.waiting_time < delivered),
        Implies(s.receiver_pc == ReceiverPc.Compute, s.waiting_time <= delivered),
        s.waiting_time <= delivered + 1,
    )
