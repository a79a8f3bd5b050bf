"""Strong Accuracy with the smallest safe initial timeout, ivy variant: 3Φ+Δ+1, or 3Φ+Δ if 3 divides Δ.

The receiver takes three steps from one Receive to the next, and each adds one to its waiting time.  So at a Receive the
waiting time is a multiple of 3, or one more before the first delivery.  It is never 3Φ+Δ-1 if 3 divides Δ.
"""

from strong_accuracy import correct_sender

from fdverify import And, If, Implies, Min, Not, Number, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc

proof = Proof(
    "chandra-toueg", goal="strong-accuracy", variant="ivy", timeout="any", bounds="accuracy", variants=("ivy",)
)


@proof.bound
def least_timeout(s: State) -> Number:
    """3Φ+Δ+1, less one if 3 divides Δ."""
    return 3 * s.phi + s.delta + If(s.delta % 3 == 0, 0, 1)


@proof.assumption
def safe_from_the_start(s: State) -> Truth:
    """The initial timeout is at least 3Φ+Δ+1, or 3Φ+Δ if 3 divides Δ."""
    return s.initial_timeout >= least_timeout(s)


def steps_since_receive(s: State) -> Number:
    return If(s.receiver_pc == ReceiverPc.Receive, 0, If(s.receiver_pc == ReceiverPc.Compute, 1, 2))


proof.invariants(correct_sender)


@proof.invariant
def silent_sender(s: State) -> Truth:
    """While nothing is in transit, the sender has been idle as long as the receiver has waited."""
    return Implies(s.buffer.empty(), s.sender_timer >= s.waiting_time)


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """After 3Φ of waiting, a message is in transit that is as old as the receiver has waited beyond, or of age Δ."""
    beyond = s.waiting_time - 3 * s.phi
    return Implies(beyond >= 0, s.buffer.any(Min(beyond, s.delta), s.delta))


@proof.invariant
def waits_in_threes(s: State) -> Truth:
    """At a Receive the receiver has waited 0 or 1 modulo 3, at the steps after it one and two more."""
    return (s.waiting_time - steps_since_receive(s)) % 3 <= 1


@proof.invariant
def waits_no_longer(s: State) -> Truth:
    """After a Receive without a delivery the receiver has waited less than 3Φ+Δ: no message had age Δ."""
    return Implies(s.receiver_pc == ReceiverPc.Receive, s.waiting_time < 3 * s.phi + s.delta)


@proof.invariant
def trusted(s: State) -> Truth:
    """The receiver trusts the sender, so the timeout never changes."""
    return And(Not(s.suspected), s.timeout == s.initial_timeout)
