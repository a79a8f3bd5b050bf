"""Strong Completeness with the safe initial timeout (row 3): Appendix G, which is Appendix F except for the timeout."""

from strong_completeness_big_timeout import proof as big_timeout

from fdverify import Proof, State, Truth

proof = Proof("chandra-toueg", goal="strong-completeness", variant="ivy", crash=True, timeout="6*phi+delta")


@proof.invariant
def fixed_timeout(s: State) -> Truth:
    """The timeout is 6Φ+Δ throughout."""
    return s.timeout == 6 * s.phi + s.delta


proof.invariants(*(conjunct for conjunct in big_timeout.predicates() if conjunct.__name__ != "safe_timeout"))
