"""Proofs in Python files: a model, a goal, and an inductive invariant as a conjunction of named claims.

The names that proof files use are imported when they are used: the command line lives here, too, and must be fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdverify.liveness.goals import Always, EventuallyAlways, LeadsTo
    from fdverify.proofs.proof import Proof, expect_verdict, hint

__all__ = ["Always", "EventuallyAlways", "LeadsTo", "Proof", "expect_verdict", "hint"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "fdverify.liveness.goals" if name in ("Always", "EventuallyAlways", "LeadsTo") else "fdverify.proofs.proof"
    return getattr(import_module(home), name)
