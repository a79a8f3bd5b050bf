"""The largest number of suspicions of a correct sender, for every initial timeout, ivy variant.

Each wrong suspicion raises the timeout by one.  After the first delivery, the waiting time at a Receive is a multiple
of 3, so at the next Compute it is at most 3Φ+3⌊(Δ-1)/3⌋+1, and the timeout grows to at most one more than that.  Before
the first delivery it has another remainder modulo 3, so any timeout that is not safe may fail once.
"""

from strong_accuracy import correct_sender
from tight_accuracy_ivy import (
    least_timeout,
    message_grows_old,
    silent_sender,
    steps_since_receive,
    waits_in_threes,
    waits_no_longer,
)

from fdverify import If, Implies, Max, Number, Proof, State, Truth

proof = Proof("chandra-toueg", variant="ivy", timeout="any", bounds="suspicions", variants=("ivy",))


def learned_timeout(s: State) -> Number:
    """The timeout with which the sender is not suspected once a message has been delivered."""
    return 3 * s.phi + 3 * ((s.delta - 1) // 3) + 2


def lacking(s: State, learned: Number, safe: Number) -> Number:
    """How much the initial timeout is too short: by one if only the first wait is too long for it."""
    return Max(learned - s.initial_timeout, If(s.initial_timeout < safe, 1, 0))


@proof.bound
def most_suspicions(s: State) -> Number:
    """3Φ+3⌊(Δ-1)/3⌋+2 less the initial timeout, but at least one unless that is safe."""
    return lacking(s, learned_timeout(s), least_timeout(s))


@proof.quantity
def wrong_suspicions(s: State) -> Number:
    """How often the sender has been suspected: each delivery that took it back made the timeout longer by one."""
    return s.timeout - s.initial_timeout + If(s.suspected, 1, 0)


@proof.goal
def few_suspicions(s: State) -> Truth:
    """The sender has not been suspected more often than the initial timeout is too short."""
    return wrong_suspicions(s) <= most_suspicions(s)


proof.invariants(correct_sender, silent_sender, message_grows_old, waits_in_threes, waits_no_longer)


@proof.invariant
def first_timeout(s: State) -> Truth:
    """Before the first delivery, while the receiver waits 1 modulo 3 at a Receive, the timeout is the initial one."""
    return Implies(s.timeout > s.initial_timeout, (s.waiting_time - steps_since_receive(s)) % 3 == 0)


@proof.invariant
def timeout_grows(s: State) -> Truth:
    """The timeout has grown, or grows at the next delivery, to what is learned at most, or by the first failure."""
    return If(s.suspected, s.timeout + 1, s.timeout) <= s.initial_timeout + most_suspicions(s)
