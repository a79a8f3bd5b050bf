"""The largest number of suspicions of a correct sender, for every initial timeout, tla variant.

The argument is that of the ivy variant, and the bound is one less.  But ``waiting_time`` stops at the timeout, so only
below the timeout does it show the wait at the last Receive; a timeout that has grown shows that there was a delivery.
If Φ is 1, sender and receiver are in lockstep, and a message is sent one round after each delivery.
"""

from strong_accuracy import correct_sender
from tight_accuracy_tla import least_timeout, lockstep, phase
from tight_suspicions_ivy import lacking, wrong_suspicions

from fdverify import And, If, Implies, Min, Number, Or, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc

proof = Proof("chandra-toueg", variant="tla", timeout="any", bounds="suspicions", variants=("tla",))


def learned_timeout(s: State) -> Number:
    """The timeout with which the sender is not suspected once a message has been delivered."""
    return If(s.phi == 1, 3 * (s.delta // 3), 3 * s.phi + 3 * ((s.delta - 1) // 3)) + 1


@proof.bound
def most_suspicions(s: State) -> Number:
    """3Φ+3⌊(Δ-1)/3⌋+1 (if Φ is 1: 3⌊Δ/3⌋+1) less the initial timeout, but at least one unless that is safe."""
    return lacking(s, learned_timeout(s), least_timeout(s))


proof.quantity(wrong_suspicions)


@proof.goal
def few_suspicions(s: State) -> Truth:
    """The sender has not been suspected more often than the initial timeout is too short."""
    return wrong_suspicions(s) <= most_suspicions(s)


def grown(s: State) -> Truth:
    return s.timeout > s.initial_timeout


def waited(s: State) -> Number:
    """A lower bound on the wait: one more than is counted, if not all steps can have been counted.

    Counted in full, the wait at a Receive is 2 modulo 3 before the first delivery, and 0 since.
    """
    return s.waiting_time + If(Or(phase(s) == 1, And(phase(s) == 2, grown(s))), 1, 0)


proof.invariants(correct_sender, lockstep)


@proof.invariant
def silent_sender(s: State) -> Truth:
    """While nothing is in transit, the sender has been idle as long as the receiver has waited."""
    return Implies(s.buffer.empty(), s.sender_timer >= waited(s))


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """A message in transit was sent after 3Φ of waiting at the latest; in lockstep, one round after a delivery."""
    sent_by = If(And(s.phi == 1, Or(phase(s) == 0, grown(s))), 1, 3 * s.phi)
    age = waited(s) - sent_by
    return Implies(age >= 0, s.buffer.any(Min(age, s.delta), s.delta))


@proof.invariant
def waits_in_threes(s: State) -> Truth:
    """Below the timeout, the receiver has waited 0 modulo 3 at a Receive, or 2 before the first delivery."""
    unheard = And(phase(s) == 2, s.timeout == s.initial_timeout)
    return Implies(s.waiting_time < s.timeout, Or(phase(s) == 0, unheard))


@proof.invariant
def timeout_grows(s: State) -> Truth:
    """The timeout grows no further, with the suspicion there is, or that comes with Compute after this Receive."""
    comes = And(s.receiver_pc == ReceiverPc.Receive, s.waiting_time == s.timeout)
    return If(Or(s.suspected, comes), s.timeout + 1, s.timeout) <= s.initial_timeout + most_suspicions(s)
