"""Strong Completeness without bounds: under asynchrony, too, every crash leads to a permanent suspicion.

Asynchrony breaks only accuracy.  To detect a crash it is enough that the receiver keeps taking steps and that messages
are delivered; there is no bound on the time that this takes.
"""

from lasting_suspicion import crashed_sender_is_idle, no_young_message
from strong_completeness_any_timeout import only_old_messages

from fdverify import Always, And, If, LeadsTo, Max, Not, Number, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc, crashed, suspected

proof = Proof(
    "chandra-toueg",
    goal=LeadsTo(crashed, Always(suspected)),
    by="fair-ranking",
    computation="asynchrony",
    variant="ivy",
    crash=True,
    timeout="any",
)


@proof.term
def done(s: State) -> Truth:
    """The sender is suspected, and nothing will come to end that."""
    return And(s.suspected, s.buffer.empty())


@proof.term
def rank(s: State) -> tuple[Number, ...]:
    """Until messages are old; until they are delivered; until the timeout; until the next Compute."""
    to_compute = If(s.receiver_pc == ReceiverPc.Compute, 3, If(s.receiver_pc == ReceiverPc.NoSnd, 2, 1))
    return (
        Max(0, s.delta - s.hlfsc),
        If(s.buffer.empty(), 0, 1),
        If(s.buffer.empty(), Max(0, s.timeout - s.waiting_time), 0),
        If(And(s.buffer.empty(), Not(s.suspected)), to_compute, 0),
    )


@proof.term
def helpful(s: State) -> dict[str, Truth]:
    """As long as something is in transit, its delivery; then each step of the receiver."""
    return {"no-overdue-message": Not(s.buffer.empty()), "receiver-steps": s.buffer.empty()}


proof.invariants(crashed_sender_is_idle, no_young_message, only_old_messages)
