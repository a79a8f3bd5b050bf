"""A claim that is 3-inductive but not inductive: the sender sends at most every third round.

    verify-invariant examples/spaced_messages.py --k 3

With ``--k 1`` a step breaks it: no single state says when the sender sent the message of age 0.  A helper conjunct
could say so; with k = 3 the previous rounds do.
"""

from fdverify import And, Not, Proof, State, Truth

proof = Proof("chandra-toueg", variant="tla")


def none_apart(s: State, rounds: int) -> Truth:
    """No two messages are this many rounds apart; age Δ is left out, since it also means older messages."""
    has = s.buffer.has
    return s.buffer.forall(0, s.delta - 1 - rounds, lambda age: Not(And(has(age), has(age + rounds))))


@proof.goal
def spaced(s: State) -> Truth:
    """Messages in transit were sent three rounds apart or more."""
    return And(none_apart(s, 1), none_apart(s, 2))


@proof.invariant
def sent_apart(s: State) -> Truth:
    """The same, as the only conjunct."""
    return spaced(s)
