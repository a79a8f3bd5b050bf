"""Strong Accuracy with the initial timeout 3Φ+Δ, tla variant, whatever steps the processes start with.

No conjunct relates the steps of sender and receiver, so the proof also holds for N processes:

    verify-invariant examples/safe_timeout.py
    fdverify cutoff --proofs examples/safe_timeout.py
"""

from fdverify import And, Implies, Min, Not, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc, SenderPc

proof = Proof("chandra-toueg", goal="strong-accuracy", variant="tla", timeout="3*phi+delta")


@proof.invariant
def trusted(s: State) -> Truth:
    """The sender has not crashed, and is trusted with the first timeout."""
    return And(s.sender_pc == SenderPc.Send, Not(s.suspected), s.timeout == s.initial_timeout)


@proof.invariant
def waits_as_long_as_the_sender(s: State) -> Truth:
    """While nothing is in transit, the receiver has not waited longer than the sender has rested."""
    return Implies(s.buffer.empty(), s.waiting_time <= s.sender_timer)


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """While something is in transit, a message is as old as the receiver's waiting time less 3Φ, or as Δ."""
    return Implies(Not(s.buffer.empty()), s.buffer.any(Min(s.waiting_time - 3 * s.phi, s.delta), s.delta))


@proof.invariant
def not_too_long(s: State) -> Truth:
    """After a Receive the timeout is not reached."""
    return Implies(s.receiver_pc == ReceiverPc.Receive, s.waiting_time < s.timeout)
