"""The repair: what a state must know so that the goal holds after the next round too."""

from first_attempt import only_old, only_old_messages

from fdverify import And, Implies, Not, Proof, State, Truth

proof = Proof("chandra-toueg", crash=True)
proof.goal(only_old)
proof.invariants(only_old_messages)


@proof.invariant
def no_young_messages(s: State) -> Truth:
    """After a crash no message is younger than the crash."""
    return Implies(And(s.hlfsc >= 0, s.hlfsc < s.delta), Not(s.buffer.any(0, s.hlfsc)))
