"""Premises of specifications: a run that does not satisfy the premise satisfies the specification vacuously."""

from __future__ import annotations

from fdverify.threshold.ltl_formula import And, Constant, Eventually, Formula, Globally, Implies


def extract_premise(formula: Formula) -> Formula:
    """Return the formula that a run must satisfy for the conclusion after ``->`` to matter."""
    match formula:
        case Implies(left, right):
            nested = extract_premise(right)
            return left if nested == Constant(True) else And(left, nested)
        case Globally(operand):
            nested = extract_premise(operand)
            return nested if nested == Constant(True) else Eventually(nested)
        case _:
            return Constant(True)
