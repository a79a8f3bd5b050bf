"""Negation normal form: no negations and no implications, with constants propagated."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fdverify.threshold.formula import (
    And,
    Comparison,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    Linear,
    Not,
    Or,
    compared,
)


def negated(formula: Formula) -> Formula:
    """Convert the negation of a formula to negation normal form."""
    match formula:
        case Comparison(left, operator, right):
            return _simple(Comparison(left, _OPPOSITE[operator], right))
        case Constant(value):
            return Constant(not value)
        case Not(operand):
            return positive(operand)
        case And(left, right):
            return either(negated(left), negated(right))
        case Or(left, right):
            return both(negated(left), negated(right))
        case Implies(left, right):
            return both(positive(left), negated(right))
        case Eventually(operand):
            return _later(Globally, negated(operand))
        case Globally(operand):
            return _later(Eventually, negated(operand))


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def positive(formula: Formula) -> Formula:
    """Convert a formula to negation normal form."""
    match formula:
        case Comparison():
            return _simple(formula)
        case Constant():
            return formula
        case Not(operand):
            return negated(operand)
        case Implies(left, right):
            return either(negated(left), positive(right))
        case And(left, right):
            return both(positive(left), positive(right))
        case Or(left, right):
            return either(positive(left), positive(right))
        case Eventually(operand):
            return _later(Eventually, positive(operand))
        case Globally(operand):
            return _later(Globally, positive(operand))


def _simple(comparison: Comparison) -> Formula:
    """Move all names to the left, and decide a comparison that has the same value for all natural numbers."""
    difference, operator = comparison.difference(), comparison.operator
    # Bounds of the difference over all natural numbers; None if there is no bound.
    least = None if any(factor < 0 for _, factor in difference.factors) else difference.constant
    most = None if any(factor > 0 for _, factor in difference.factors) else difference.constant
    positive = least is not None and least > 0
    negative = most is not None and most < 0
    if least is not None and (least == most or positive):
        return Constant(bool(compared(least, operator, 0)))
    if negative:
        return Constant(bool(compared(-1, operator, 0)))
    if operator in (">=", "<") and least == 0:
        return Constant(operator == ">=")
    if operator in ("<=", ">") and most == 0:
        return Constant(operator == "<=")
    return Comparison(Linear(difference.factors), operator, Linear(constant=-difference.constant))


def both(left: Formula, right: Formula) -> Formula:
    if isinstance(left, Constant):
        return right if left.value else left
    if isinstance(right, Constant):
        return left if right.value else right
    return And(left, right)


def either(left: Formula, right: Formula) -> Formula:
    if isinstance(left, Constant):
        return left if left.value else right
    if isinstance(right, Constant):
        return right if right.value else left
    return Or(left, right)


def _later(operator: type[Eventually] | type[Globally], operand: Formula) -> Formula:
    return operand if isinstance(operand, Constant) else operator(operand)


def all_of(formulas: Iterable[Formula]) -> Formula:
    return _balanced(both, formulas, Constant(True))


def any_of(formulas: Iterable[Formula]) -> Formula:
    return _balanced(either, formulas, Constant(False))


def _balanced(join: Callable[[Formula, Formula], Formula], formulas: Iterable[Formula], empty: Formula) -> Formula:
    """Join formulas in a balanced tree, since recursion over formulas limits their depth."""
    level = list(formulas)
    while len(level) > 1:
        pairs = [join(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = [*pairs, *level[2 * len(pairs) :]]
    return level[0] if level else empty
