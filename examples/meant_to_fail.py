"""What happens with too short a timeout, kept as a proof that must not hold."""

from fdverify import Not, Proof, State, Truth, expect_verdict

proof = Proof("chandra-toueg", goal="strong-accuracy", timeout="2*phi+delta")


@expect_verdict("violated")
@proof.invariant
def trusted(s: State) -> Truth:
    """The receiver trusts the sender."""
    return Not(s.suspected)
