"""NAME: a claim about the shipped detector, and a first attempt to prove it.

verify-invariant NAME.py shows the step that breaks the attempt, and a hint that repairs it.
"""

from fdverify import And, Implies, Not, Proof, State, Truth, hint
from fdverify.detectors.chandra_toueg import crashed

proof = Proof("chandra-toueg", crash=True)


@proof.goal
def only_old(s: State) -> Truth:
    """From Δ rounds after a crash on, only messages of age Δ are in transit."""
    return Implies(And(crashed(s), s.hlfsc >= s.delta), Not(s.buffer.any(0, s.delta - 1)))


@hint("uncomment no_young_messages at the end of NAME.py: a message cannot be younger than the crash of its sender")
@proof.invariant
def only_old_messages(s: State) -> Truth:
    """The goal as its own invariant."""
    return only_old(s)


# @proof.invariant
# def no_young_messages(s: State) -> Truth:
#     """After a crash no message is younger than the crash."""
#     return Implies(And(crashed(s), s.hlfsc < s.delta), Not(s.buffer.any(0, s.hlfsc)))
