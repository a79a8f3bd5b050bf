"""The longest suspicion of a correct sender, in rounds, for every initial timeout, ivy variant.

In the worst run the receiver is fast until a Compute suspects.  Then it is slow: a Receive leaves the message in
transit, one round before it is old enough, and the next one, 3Φ later, delivers it.  That takes 6Φ+Δ-1 rounds, less the
waiting time at that Compute.
"""

from _suspicion_clock import SUSPICION_CLOCK
from strong_accuracy import correct_sender
from tight_accuracy_ivy import steps_since_receive, waits_in_threes
from tight_completeness_ivy import phi_times

from fdverify import And, If, Implies, Min, Not, Number, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc

proof = Proof(SUSPICION_CLOCK, variant="ivy", timeout="any", bounds="suspicion_length", variants=("ivy",))


def first_compute(s: State) -> Number:
    """The smallest waiting time at a Compute that suspects: it is 1 or 2 modulo 3."""
    return s.initial_timeout + If(s.initial_timeout % 3 == 0, 1, 0)


def old_by(s: State) -> Number:
    """The number of rounds after the last delivery by which a message in transit has age Δ."""
    return 3 * s.phi + s.delta


def longest(s: State, begins: Number, old: Number) -> Number:
    """The longest suspicion that begins after ``begins`` rounds, if a message is old enough after ``old`` rounds.

    If it is old enough before, there is no suspicion.  Else either the first Receive ends it, two steps later; or one
    comes in the round before the message is old enough, and the next one, 3Φ later, ends it.  If Φ is 1, there is a
    Receive two steps later, and in every third round from then on.
    """
    too_long = If(s.phi == 1, (old - begins) % 3, 0)
    lasts = If(begins + 2 >= old, 2 * s.phi, old - 1 + 3 * s.phi - begins - too_long)
    return If(begins <= old, lasts, 0)


@proof.bound
def longest_suspicion(s: State) -> Number:
    """6Φ+Δ-1 less the wait at the first Compute that can suspect, or 2Φ; if Φ is 1, to the next Receive; if safe, 0."""
    return longest(s, first_compute(s), old_by(s))


@proof.quantity
def suspected_for(s: State) -> Number:
    """For how many rounds the sender has been suspected."""
    rounds: Number = s.hsuspected
    return rounds


@proof.goal
def short_suspicion(s: State) -> Truth:
    """A suspicion does not last longer, and there is none if the initial timeout is safe."""
    return s.hsuspected <= longest_suspicion(s)


def quiet(s: State) -> Number:
    """A lower bound on the number of rounds since the last delivery."""
    return If(s.suspected, first_compute(s) + s.hsuspected - 1, s.waiting_time)


def oldest(s: State) -> Number:
    """A lower bound, up to Δ, on the age of the oldest message in transit; if negative, there may be none."""
    return quiet(s) - 3 * s.phi


def since_receive(s: State) -> Number:
    """An upper bound on the number of rounds since the last Receive."""
    return phi_times(s, steps_since_receive(s)) + s.receiver_timer


def no_receive_yet(s: State) -> Truth:
    """Since the Compute that suspected, the receiver has taken no step but NoSnd."""
    since_compute = s.receiver_timer + If(s.receiver_pc == ReceiverPc.Compute, 0, s.phi)
    return And(s.receiver_pc != ReceiverPc.Receive, s.hsuspected - 1 <= since_compute)


proof.invariants(correct_sender, waits_in_threes)


@proof.invariant
def silent_sender(s: State) -> Truth:
    """While nothing is in transit, the sender has been idle as long as nothing has been delivered."""
    return Implies(s.buffer.empty(), s.sender_timer >= quiet(s))


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """After 3Φ without a delivery, a message is in transit that is as old as that is ago, or of age Δ."""
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
def one_step_a_round(s: State) -> Truth:
    """Since the Compute that suspected, the receiver has taken at most one step in each round; if Φ is 1, one."""
    since_compute = (steps_since_receive(s) + 2) % 3
    lockstep = Implies(s.phi == 1, (s.hsuspected - since_compute) % 3 == 1)
    return Implies(s.suspected, And(s.hsuspected > since_compute, lockstep))


@proof.invariant
def waits_no_longer(s: State) -> Truth:
    """While it trusts the sender, the receiver has waited less than 3Φ+Δ after a Receive without a delivery."""
    return Implies(And(s.receiver_pc == ReceiverPc.Receive, Not(s.suspected)), s.waiting_time < old_by(s))


@proof.invariant
def begins_in_time(s: State) -> Truth:
    """There is no suspicion if a message is old enough before one may begin."""
    return Implies(s.suspected, first_compute(s) <= old_by(s))
