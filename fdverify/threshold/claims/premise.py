"""What a specification is about: a run that does not meet its premise satisfies it for no good reason."""

from __future__ import annotations

from fdverify.threshold.formula import And, Constant, Eventually, Formula, Globally, Implies


def premise(formula: Formula) -> Formula:
    """What a run must do for what follows ``->`` to matter."""
    match formula:
        case Implies(left, right):
            further = premise(right)
            return left if further == Constant(True) else And(left, further)
        case Globally(operand):
            inside = premise(operand)
            return inside if inside == Constant(True) else Eventually(inside)
        case _:
            return Constant(True)
