"""Strong Completeness with a tight bound, ivy variant: the round after its crash by which the sender is suspected.

In the worst run a Receive leaves the last message in transit, one round before it is old enough; the next one, 3Φ
later, delivers it.  Then the receiver waits, at one step every Φ rounds, until a Compute finds the timeout reached.
"""

from tight_accuracy_ivy import steps_since_receive, waits_in_threes

from fdverify import And, If, Implies, Min, Not, Number, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc

proof = Proof("chandra-toueg", variant="ivy", crash=True, timeout="any", bounds="completeness", variants=("ivy",))


def phi_times(s: State, steps: Number) -> Number:
    """The most rounds that 0, 1 or 2 steps of the receiver take, without a product, which is hard for solvers."""
    return If(steps == 0, 0, If(steps == 1, s.phi, 2 * s.phi))


def delivered_by(s: State) -> Number:
    """The number of rounds after the crash by which every message has been delivered."""
    return s.delta - 2 + 3 * s.phi


def waited_by(s: State) -> Number:
    """The number of rounds from there to the first Compute at which the receiver has waited as long as its timeout.

    Its waiting time there is 1 modulo 3, so it exceeds the timeout by 0, 1 or 2.
    """
    return s.phi * s.timeout + phi_times(s, (1 - s.timeout) % 3)


@proof.bound
def suspected_by(s: State) -> Number:
    """Both; but a timeout of 1 is reached at the first Compute, and grows when that suspicion ends."""
    return If(s.timeout == 1, 2 * s.phi - 1, delivered_by(s) + waited_by(s))


@proof.goal
def suspected_in_time(s: State) -> Truth:
    """By then a crashed sender is suspected."""
    return Implies(s.hlfsc >= suspected_by(s), s.suspected)


# Before the first delivery the receiver has waited 1 modulo 3 at a Receive, since then 0.
proof.invariants(waits_in_threes)


@proof.invariant
def no_young_message(s: State) -> Truth:
    """Every message in transit is older than the crash, or of age Δ."""
    return Not(s.buffer.any(0, Min(s.hlfsc, s.delta - 1)))


@proof.invariant
def message_left(s: State) -> Truth:
    """If a message is in transit, the last Receive left it: that was Δ-2 rounds after the crash at the latest."""
    since = phi_times(s, steps_since_receive(s)) + s.receiver_timer
    return Implies(Not(s.buffer.empty()), s.hlfsc <= s.delta - 2 + since)


@proof.invariant
def waits_since_delivery(s: State) -> Truth:
    """The receiver waits one more at least every Φ: since the last delivery, or since the start if there was none."""
    delivered = (s.waiting_time - steps_since_receive(s)) % 3 == 0
    return s.hlfsc <= s.phi * s.waiting_time + s.receiver_timer + If(delivered, delivered_by(s), -1)


@proof.invariant
def trusts_no_longer(s: State) -> Truth:
    """While it trusts the sender, the receiver had not waited as long as its timeout at the last Compute."""
    since_compute = (steps_since_receive(s) + 2) % 3
    return Implies(Not(s.suspected), s.waiting_time - since_compute < s.timeout)


@proof.invariant
def trusts_until_first_compute(s: State) -> Truth:
    """With timeout 1 the receiver trusts the sender until its first Compute, and then until a delivery it does not."""
    started = s.hlfsc < s.receiver_timer + If(s.receiver_pc == ReceiverPc.Receive, s.phi, 0)
    first = And(s.receiver_pc != ReceiverPc.Compute, started)
    return Implies(And(s.timeout == 1, Not(s.suspected)), first)
