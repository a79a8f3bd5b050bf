"""Proofs in Python files: a model, a goal, and an inductive invariant as a conjunction of named claims."""

from fdverify.liveness.goals import Always, EventuallyAlways, LeadsTo
from fdverify.proofs.proof import Proof, expect_verdict, hint

__all__ = ["Always", "EventuallyAlways", "LeadsTo", "Proof", "expect_verdict", "hint"]
