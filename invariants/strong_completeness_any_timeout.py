"""Strong Completeness, for every initial timeout: a crashed sender is suspected in time and forever (row 5).

Formulas of Appendix E; ``hlfsc`` counts the rounds since the crash and is not capped.  Its type invariants (37)–(47)
and (50) are the declared ranges.
"""

from eventually_strong_accuracy import safe_timeout_unchanged, timeout_grows_until_safe
from strong_accuracy import waits_no_longer

from fdverify import And, Iff, Implies, Not, Number, Or, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc, SenderPc, sender_correct

proof = Proof("chandra-toueg", goal="strong-completeness", variant="ivy", crash=True, timeout="any")


def crashed(s: State) -> Truth:
    return s.sender_pc == SenderPc.Crashed


def delivered_by(s: State) -> Number:
    """The number of rounds after the crash by which every message has been delivered."""
    return 3 * s.phi + s.delta


def waited_by(s: State) -> Number:
    """The number of rounds after the crash by which the receiver has waited as long as its timeout."""
    return delivered_by(s) + s.phi * s.timeout


@proof.invariant
def suspected_after_timeout(s: State) -> Truth:
    """(48) A suspicion lasts only while the receiver has waited as long as its timeout."""
    return Implies(s.suspected, s.waiting_time >= s.timeout)


@proof.invariant
def crashed_sender_is_idle(s: State) -> Truth:
    """(49) The sender has crashed when its timer is stopped and the crash clock runs."""
    return Iff(crashed(s), And(s.sender_timer == 0, s.hlfsc >= 0))


proof.invariants(safe_timeout_unchanged, timeout_grows_until_safe)


@proof.invariant
def suspected_in_time(s: State) -> Truth:
    """(53) By 6Φ+Δ+Φ·timeout after the crash the sender is suspected."""
    return Implies(s.hlfsc >= waited_by(s) + 3 * s.phi, And(s.suspected, crashed(s)))


@proof.invariant
def safe_suspicion(s: State) -> Truth:
    """(54), (55) A receiver that has waited as long as a safe timeout is right: nothing will come."""
    waited = And(s.timeout >= 6 * s.phi + s.delta, s.waiting_time >= s.timeout)
    return Implies(waited, And(crashed(s), s.buffer.empty()))


@proof.invariant
def silent_sender(s: State) -> Truth:
    """(59) While nothing is in transit, a correct sender has been idle as long as the receiver has waited."""
    waited = And(s.waiting_time > 0, s.waiting_time < 3 * s.phi, sender_correct(s))
    return Implies(And(s.buffer.empty(), waited), s.sender_timer >= s.waiting_time)


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """(60) After 3Φ of waiting, a message as old as the wait beyond is in transit, or nothing will come."""
    beyond = s.waiting_time - 3 * s.phi
    nothing_comes = And(crashed(s), s.buffer.empty())
    return Implies(And(beyond >= 0, beyond < s.delta), Or(nothing_comes, s.buffer.any(beyond, s.delta)))


@proof.invariant
def old_message(s: State) -> Truth:
    """(61) After 3Φ+Δ of waiting, a message of age Δ is in transit, or nothing will come."""
    nothing_comes = And(crashed(s), s.buffer.empty())
    return Implies(s.waiting_time >= 3 * s.phi + s.delta, Or(s.buffer.has(s.delta), nothing_comes))


@proof.invariant
def waits_longer_in_vain(s: State) -> Truth:
    """(62) The receiver waits no longer than in (29)–(32), unless nothing will come."""
    nothing_comes = And(crashed(s), s.buffer.empty(), s.waiting_time >= 3 * s.phi + s.delta)
    return Or(nothing_comes, waits_no_longer(s))


@proof.invariant
def no_young_message(s: State) -> Truth:
    """(64) After a crash no message is younger than the crash."""
    return Implies(And(s.hlfsc >= 0, s.hlfsc < s.delta), Not(s.buffer.any(0, s.hlfsc)))


@proof.invariant
def only_old_messages(s: State) -> Truth:
    """(65) From Δ after the crash on, every message in transit has age Δ."""
    return Implies(s.hlfsc >= s.delta, Not(s.buffer.any(0, s.delta - 1)))


@proof.invariant
def all_delivered(s: State) -> Truth:
    """(66) From 3Φ+Δ after the crash on, nothing is in transit."""
    return Implies(s.hlfsc >= delivered_by(s), s.buffer.empty())


@proof.invariant
def delivery_overdue_2_phi(s: State) -> Truth:
    """(67) A message is in transit 2Φ+Δ after the crash: the receiver's next step is Receive."""
    overdue = s.hlfsc - 2 * s.phi - s.delta
    last = And(s.receiver_pc == ReceiverPc.NoSnd, s.receiver_timer >= overdue)
    return Implies(And(overdue >= 0, Not(s.buffer.empty())), last)


@proof.invariant
def delivery_overdue_1_phi(s: State) -> Truth:
    """(68) A message is in transit Φ+Δ after the crash: the last Receive was before that."""
    overdue = s.hlfsc - s.phi - s.delta
    last = And(
        s.receiver_pc != ReceiverPc.Receive, Implies(s.receiver_pc == ReceiverPc.Compute, s.receiver_timer >= overdue)
    )
    return Implies(And(overdue >= 0, overdue < s.phi, Not(s.buffer.empty())), last)


@proof.invariant
def delivery_overdue(s: State) -> Truth:
    """(69) A message is in transit Δ after the crash: the last Receive was before that."""
    overdue = s.hlfsc - s.delta
    in_transit = And(overdue >= 0, overdue < s.phi, Not(s.buffer.empty()))
    return Implies(And(in_transit, s.receiver_pc == ReceiverPc.Receive), s.receiver_timer > overdue)


@proof.invariant
def waits_once_delivered(s: State) -> Truth:
    """(70) From 3Φ+Δ after the crash on, the receiver waits one more at least every Φ."""
    waits = s.hlfsc <= delivered_by(s) + s.phi * s.waiting_time + s.receiver_timer
    return Implies(And(s.hlfsc >= delivered_by(s), s.waiting_time < s.timeout), waits)


@proof.invariant
def waited_for_timeout(s: State) -> Truth:
    """(71), (72) By 3Φ+Δ+Φ·timeout after the crash the receiver has waited as long as its timeout."""
    return Implies(s.hlfsc >= waited_by(s), s.waiting_time >= s.timeout)


@proof.invariant
def suspicion_overdue(s: State) -> Truth:
    """(73)–(75) Having waited as long as its timeout, the receiver trusts at most until its next Compute."""
    trusts = And(s.hlfsc >= delivered_by(s), s.waiting_time >= s.timeout, Not(s.suspected))
    since = s.hlfsc - waited_by(s)
    idle = And(
        Implies(s.receiver_pc == ReceiverPc.Compute, s.receiver_timer >= since),
        Implies(s.receiver_pc == ReceiverPc.NoSnd, s.receiver_timer >= since - s.phi),
        Implies(s.receiver_pc == ReceiverPc.Receive, s.receiver_timer >= since - 2 * s.phi),
    )
    return Implies(trusts, idle)
