"""How often a correct sender is suspected at most, ivy variant, whatever the initial timeout.

Each wrong suspicion makes the timeout longer by one.  At a Receive since the first delivery the receiver has waited a
multiple of 3, so that at the next Compute it has waited 3Φ+3⌊(Δ-1)/3⌋+1 at most: the timeout grows to one more and no
further.  Before the first delivery it has waited another number modulo 3: any timeout that is not safe may fail once.
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

from fdverify.logic import If, Implies, Max, Number, Truth
from fdverify.models.system import State
from fdverify.proofs import Proof

proof = Proof("chandra-toueg", variant="ivy", timeout="any")


def next_timeout(s: State) -> Number:
    """The timeout once a suspicion has been taken back, if there is one."""
    return s.timeout + If(s.suspected, 1, 0)


def learned_timeout(s: State) -> Number:
    """With this timeout the sender is not suspected once a message has been delivered."""
    return 3 * s.phi + 3 * ((s.delta - 1) // 3) + 2


def may_fail_once(s: State) -> Number:
    """One suspicion before the first delivery, unless the initial timeout is safe."""
    return If(s.initial_timeout < least_timeout(s), 1, 0)


def most_suspicions(s: State) -> Number:
    return Max(learned_timeout(s) - s.initial_timeout, may_fail_once(s))


@proof.goal
def few_suspicions(s: State) -> Truth:
    """The sender has been suspected as often as the timeout has grown, and no more often than it lacked."""
    return next_timeout(s) - s.initial_timeout <= most_suspicions(s)


proof.invariants(correct_sender, silent_sender, message_grows_old, waits_in_threes, waits_no_longer)


@proof.invariant
def first_timeout(s: State) -> Truth:
    """Before the first delivery, while the receiver waits 1 modulo 3 at a Receive, the timeout is the initial one."""
    return Implies(s.timeout > s.initial_timeout, (s.waiting_time - steps_since_receive(s)) % 3 == 0)


@proof.invariant
def grows_until_learned(s: State) -> Truth:
    """The timeout grows until it is learned, or by the suspicion before the first delivery."""
    return next_timeout(s) <= Max(learned_timeout(s), s.initial_timeout + may_fail_once(s))
