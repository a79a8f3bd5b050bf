"""Strong Accuracy with the smallest safe initial timeout, tla variant: 3Φ+Δ, or one less if Δ is 2 modulo 3.

If Φ is 1, it is 3+Δ rounded down to a multiple of 3, because sender and receiver are then in lockstep.
"""

from strong_accuracy import correct_sender
from tight_accuracy_ivy import silent_sender, steps_since_receive, trusted

from fdverify import And, If, Implies, Min, Number, Or, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc

proof = Proof(
    "chandra-toueg", goal="strong-accuracy", variant="tla", timeout="any", bounds="accuracy", variants=("tla",)
)


@proof.bound
def least_timeout(s: State) -> Number:
    """3Φ+Δ, less one if Δ is 2 modulo 3; if Φ is 1, 3+Δ rounded down to a multiple of 3."""
    rounded = 3 * s.phi + s.delta - s.delta % 3
    return rounded + If(And(s.delta % 3 >= 1, s.phi >= 2), 1, 0)


@proof.assumption
def safe_from_the_start(s: State) -> Truth:
    """The initial timeout is at least 3Φ+Δ, less one if Δ is 2 modulo 3; if Φ is 1, less Δ modulo 3."""
    return s.initial_timeout >= least_timeout(s)


def phase(s: State) -> Number:
    """The waiting time at the receiver's last Receive, modulo 3: 0 since the first delivery, 2 before it."""
    return (s.waiting_time - steps_since_receive(s)) % 3


def waited(s: State) -> Number:
    """The waiting time, with the step that is not counted once the timeout is reached."""
    return s.waiting_time + If(phase(s) == 1, 1, 0)


proof.invariants(correct_sender, silent_sender, trusted)


@proof.invariant
def lockstep(s: State) -> Truth:
    """If Φ is 1, the sender is active in the rounds in which the receiver is at Compute."""
    return Implies(s.phi == 1, s.sender_timer == (steps_since_receive(s) + 2) % 3)


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """A message in transit was sent after 3Φ of waiting at the latest; in lockstep, one round after a delivery."""
    sent_by = If(And(s.phi == 1, phase(s) == 0), 1, 3 * s.phi)
    age = waited(s) - sent_by
    return Implies(age >= 0, s.buffer.any(Min(age, s.delta), s.delta))


@proof.invariant
def waits_in_threes(s: State) -> Truth:
    """The receiver waits one more in each of its steps, but NoSnd is not counted when the timeout is reached."""
    uncounted = And(s.receiver_pc == ReceiverPc.NoSnd, s.waiting_time == s.timeout)
    return Or(phase(s) != 1, uncounted)


@proof.invariant
def waits_no_longer(s: State) -> Truth:
    """Compute, the step after Receive, does not find that the receiver has waited as long as its timeout."""
    return Implies(s.receiver_pc == ReceiverPc.Receive, s.waiting_time < s.timeout)
