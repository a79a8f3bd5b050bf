"""A first attempt: the goal as its own invariant."""

from fdverify import Implies, Not, Proof, State, Truth

proof = Proof("chandra-toueg", crash=True)


@proof.goal
def only_old(s: State) -> Truth:
    """From Δ rounds after a crash on, only messages of age Δ are in transit."""
    return Implies(s.hlfsc >= s.delta, Not(s.buffer.any(0, s.delta - 1)))


@proof.invariant
def only_old_messages(s: State) -> Truth:
    """The same."""
    return only_old(s)
