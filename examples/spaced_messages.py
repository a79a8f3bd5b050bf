"""A claim that one round does not preserve but three do: the sender sends at most every third round.

    verify-invariant examples/spaced_messages.py --k 3

With ``--k 1`` a step breaks it: nothing in a single state says when the sender sent the message of age 0.  A helper
conjunct could say so; with k = 3 the rounds before do.
"""

from fdverify.logic import And, Not, Truth
from fdverify.models.system import State
from fdverify.proofs import Proof

proof = Proof("chandra-toueg", variant="tla")


def none_apart(s: State, rounds: int) -> Truth:
    """No two messages are so many rounds apart; the oldest age stands for older ones too and says nothing."""
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
