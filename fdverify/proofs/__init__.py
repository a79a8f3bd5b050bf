"""Proofs in Python files: a model, a goal, and the named conjuncts of an inductive invariant."""

from fdverify.proofs.proof import Proof, expect_verdict

__all__ = ["Proof", "expect_verdict"]
