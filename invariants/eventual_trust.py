"""Eventually Strong Accuracy as a liveness property: in every run, a correct sender is trusted from some time on.

The paper derives it in prose from the formula that eventually_strong_accuracy.py proves; here the whole argument is
checked.  The clock ``hquiet`` counts the rounds since the last delivery, where the paper's formulas use
``waiting_time``.  It bounds how long a wrong suspicion lasts, however long the receiver had waited before.
"""

from fdverify import And, EventuallyAlways, Implies, Max, Not, Number, Or, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc, sender_correct

proof = Proof(
    "chandra-toueg",
    goal=EventuallyAlways("strong-accuracy"),
    by="timeout-guard",
    variant="ivy",
    crash=True,
    timeout="any",
)


@proof.term
def safe_timeout(s: State) -> Number:
    """From this timeout on, a correct sender is not suspected."""
    return 6 * s.phi + s.delta


@proof.term
def longest_quiet(s: State) -> Number:
    """While something may still come, a message was delivered so many rounds ago at most."""
    return 6 * s.phi + s.delta - 2


def something_comes(s: State) -> Truth:
    return Or(sender_correct(s), Not(s.buffer.empty()))


def old_by(s: State) -> Number:
    """The number of rounds after the last delivery by which a message in transit has age Δ."""
    return 3 * s.phi + s.delta


@proof.invariant
def suspected_after_timeout(s: State) -> Truth:
    """A suspicion lasts only while the receiver has waited as long as its timeout."""
    return Implies(s.suspected, s.waiting_time >= s.timeout)


@proof.invariant
def waits_in_quiet(s: State) -> Truth:
    """The receiver has waited at most as long as it has been quiet."""
    return s.waiting_time <= s.hquiet


@proof.invariant
def grows_until_safe(s: State) -> Truth:
    """The timeout grows until it is safe, and no further."""
    return s.timeout <= Max(s.initial_timeout, safe_timeout(s))


@proof.invariant
def silent_sender(s: State) -> Truth:
    """While nothing is in transit, a correct sender has been idle as long as it has been quiet."""
    return Implies(And(s.buffer.empty(), sender_correct(s)), s.sender_timer >= s.hquiet)


@proof.invariant
def message_grows_old(s: State) -> Truth:
    """After 3Φ of quiet, a message as old as the quiet beyond is in transit, or nothing will come."""
    beyond = s.hquiet - 3 * s.phi
    young = And(beyond >= 0, beyond < s.delta, something_comes(s))
    return Implies(young, s.buffer.any(beyond, s.delta))


@proof.invariant
def old_message(s: State) -> Truth:
    """After 3Φ+Δ of quiet, a message of age Δ is in transit, or nothing will come."""
    return Implies(And(s.hquiet >= old_by(s), something_comes(s)), s.buffer.has(s.delta))


@proof.invariant
def delivery_overdue(s: State) -> Truth:
    """After 3Φ+Δ of quiet, while something may come, the receiver's last Receive was before that."""
    overdue = s.hquiet - old_by(s)
    idle = And(
        Implies(s.receiver_pc == ReceiverPc.Receive, s.receiver_timer > overdue),
        Implies(s.receiver_pc == ReceiverPc.Compute, s.receiver_timer > overdue - s.phi),
        Implies(s.receiver_pc == ReceiverPc.NoSnd, s.receiver_timer > overdue - 2 * s.phi),
    )
    return Implies(And(overdue >= 0, something_comes(s)), idle)
