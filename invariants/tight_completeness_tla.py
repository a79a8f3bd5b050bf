"""Strong Completeness with a tight bound, tla variant: the round after its crash by which the sender is suspected.

The argument is that of the ivy variant.  Here ``waiting_time`` stops at the timeout.  If Φ is 1, sender and receiver
are in lockstep, so no Receive comes one round before a message is old enough, unless 3 divides Δ.
"""

from tight_accuracy_ivy import steps_since_receive
from tight_completeness_ivy import no_young_message, phi_times

from fdverify import And, If, Implies, Not, Number, Or, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc, sender_correct

proof = Proof("chandra-toueg", variant="tla", crash=True, timeout="any", bounds="completeness", variants=("tla",))


def left_by(s: State) -> Number:
    """The last round, counted from the crash, in which a Receive may leave a message in transit."""
    return s.delta - 2 - If(s.phi == 1, s.delta % 3, 0)


def delivered_by(s: State) -> Number:
    """The number of rounds after the crash by which every message has been delivered."""
    return left_by(s) + 3 * s.phi


def received_by(s: State) -> Number:
    """The number of rounds from there to the first Receive at which the receiver has waited as long as its timeout.

    Its waiting time there is a multiple of 3, so it exceeds the timeout by 0, 1 or 2.
    """
    return s.phi * s.timeout + phi_times(s, -s.timeout % 3)


@proof.bound
def suspected_by(s: State) -> Number:
    """One step later, at Compute; in lockstep a timeout of 1 is reached at once, and grows when that suspicion ends."""
    return If(And(s.phi == 1, s.timeout == 1), 2, delivered_by(s) + received_by(s) + s.phi)


@proof.goal
def suspected_in_time(s: State) -> Truth:
    """By then a crashed sender is suspected."""
    return Implies(s.hlfsc >= suspected_by(s), s.suspected)


def steps_to_receive(s: State) -> Number:
    return (3 - steps_since_receive(s)) % 3


proof.invariants(no_young_message)


@proof.invariant
def lockstep(s: State) -> Truth:
    """If Φ is 1, a correct sender is active in the rounds in which the receiver is at Compute."""
    return Implies(And(s.phi == 1, sender_correct(s)), s.sender_timer == (steps_since_receive(s) + 2) % 3)


@proof.invariant
def messages_in_lockstep(s: State) -> Truth:
    """If Φ is 1, the ages of messages, Δ left out, are the number of steps since Compute, modulo 3."""
    since_compute = (steps_since_receive(s) + 2) % 3
    in_lockstep = s.buffer.forall(0, s.delta - 1, lambda age: Implies(s.buffer.has(age), age % 3 == since_compute))
    return Implies(s.phi == 1, in_lockstep)


@proof.invariant
def message_left(s: State) -> Truth:
    """If a message is in transit, the last Receive left it, or was before it was sent."""
    since = phi_times(s, steps_since_receive(s)) + s.receiver_timer
    return Implies(Not(s.buffer.empty()), s.hlfsc <= left_by(s) + since)


@proof.invariant
def waits_in_threes(s: State) -> Truth:
    """Below the timeout, the receiver has waited 0 modulo 3 at a Receive, or 2 before the first delivery."""
    return Implies(s.waiting_time < s.timeout, (s.waiting_time - steps_since_receive(s)) % 3 != 1)


@proof.invariant
def waits_since_delivery(s: State) -> Truth:
    """Below the timeout, the receiver waits one more at least every Φ: since the last delivery, or since the start."""
    delivered = (s.waiting_time - steps_since_receive(s)) % 3 == 0
    waits = s.hlfsc <= s.phi * s.waiting_time + s.receiver_timer + If(delivered, delivered_by(s), -1)
    return Implies(s.waiting_time < s.timeout, waits)


@proof.invariant
def trusts_no_longer(s: State) -> Truth:
    """When its timeout is reached, the receiver trusts the sender until the step after the next Receive."""
    trusts = s.hlfsc <= delivered_by(s) + received_by(s) - phi_times(s, steps_to_receive(s)) + s.receiver_timer
    return Implies(And(s.waiting_time == s.timeout, Not(s.suspected)), trusts)


@proof.invariant
def trusts_until_first_compute(s: State) -> Truth:
    """If Φ is 1, with timeout 1 the receiver trusts the sender in the first two rounds only, and nothing is sent."""
    waits = Or(s.receiver_pc == ReceiverPc.Compute, s.waiting_time == 1)
    first = And(s.buffer.empty(), s.hlfsc < 2 - steps_to_receive(s), waits)
    return Implies(And(s.phi == 1, s.timeout == 1, Not(s.suspected)), first)
