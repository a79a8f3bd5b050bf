"""The longest suspicion of a correct sender, in rounds, for every initial timeout, tla variant.

The argument is that of the ivy variant.  Here ``waiting_time`` stops at the timeout.  If Φ is 1, sender and receiver
are in lockstep, and a message is sent one round after each delivery.
"""

from _suspicion_clock import SUSPICION_CLOCK
from strong_accuracy import correct_sender
from tight_accuracy_tla import lockstep, phase, waited
from tight_suspicion_length_ivy import longest, no_receive_yet, one_step_a_round, since_receive, suspected_for

from fdverify import And, If, Implies, Min, Number, Or, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc

proof = Proof(SUSPICION_CLOCK, variant="tla", timeout="any", bounds="suspicion_length", variants=("tla",))


def first_compute(s: State) -> Number:
    """The smallest waiting time at a Compute that suspects: 1 modulo 3, or 0 before the first delivery."""
    return s.initial_timeout + If(s.initial_timeout % 3 == 1, 2, 1)


def sent_by(s: State, delivered: Truth) -> Number:
    """The number of rounds after the last delivery, or after the start, by which a message has been sent."""
    return If(And(s.phi == 1, delivered), 1, 3 * s.phi)


def old_by(s: State) -> Number:
    """The number of rounds by which a message has age Δ, if the first Compute that can suspect does so."""
    return sent_by(s, first_compute(s) % 3 == 1) + s.delta


@proof.bound
def longest_suspicion(s: State) -> Number:
    """6Φ+Δ-1 less the wait at the first Compute that can suspect, or 2Φ; if Φ is 1, to the next Receive; if safe, 0."""
    return longest(s, first_compute(s), old_by(s))


proof.quantity(suspected_for)


@proof.goal
def short_suspicion(s: State) -> Truth:
    """A suspicion does not last longer, and there is none if the initial timeout is safe."""
    return s.hsuspected <= longest_suspicion(s)


def quiet(s: State) -> Number:
    """A lower bound on the number of rounds since the last delivery."""
    return If(s.suspected, first_compute(s) + s.hsuspected - 1, waited(s))


def oldest(s: State) -> Number:
    """A lower bound, up to Δ, on the age of the oldest message in transit; if negative, there may be none."""
    return If(s.suspected, quiet(s) - old_by(s) + s.delta, quiet(s) - sent_by(s, phase(s) == 0))


proof.invariants(correct_sender, lockstep, one_step_a_round)


@proof.invariant
def silent_sender(s: State) -> Truth:
    """While nothing is in transit, the sender has been idle as long as nothing has been delivered."""
    return Implies(s.buffer.empty(), s.sender_timer >= quiet(s))


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """Some time after a delivery, a message is in transit that is as old as that is ago, or of age Δ."""
    return Implies(oldest(s) >= 0, s.buffer.any(Min(oldest(s), s.delta), s.delta))


@proof.invariant
def delivery_overdue(s: State) -> Truth:
    """At the last Receive no message had age Δ."""
    return oldest(s) - since_receive(s) < s.delta


@proof.invariant
def ends_at_next_receive(s: State) -> Truth:
    """If a message is old enough at the first Receive of a suspicion, there has been none."""
    return Implies(And(s.suspected, first_compute(s) + 2 >= old_by(s)), no_receive_yet(s))


@proof.invariant
def begins_in_time(s: State) -> Truth:
    """There is no suspicion, nor one to come after this Receive, if a message is old enough before one may begin."""
    comes = And(s.receiver_pc == ReceiverPc.Receive, s.waiting_time == s.timeout)
    return Implies(Or(s.suspected, comes), first_compute(s) <= old_by(s))
