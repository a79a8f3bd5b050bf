"""Negation normal form: no negations and no implications, with constants propagated."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fdverify.threshold.ltl_formula import (
    And,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    LinearComparison,
    LinearExpression,
    Not,
    Or,
    apply_comparison,
)


def negate_to_nnf(formula: Formula) -> Formula:
    """Convert the negation of a formula to negation normal form."""
    match formula:
        case LinearComparison(left, operator, right):
            return _simplify_comparison(LinearComparison(left, _OPPOSITE[operator], right))
        case Constant(value):
            return Constant(not value)
        case Not(operand):
            return convert_to_nnf(operand)
        case And(left, right):
            return disjoin_formulas(negate_to_nnf(left), negate_to_nnf(right))
        case Or(left, right):
            return conjoin_formulas(negate_to_nnf(left), negate_to_nnf(right))
        case Implies(left, right):
            return conjoin_formulas(convert_to_nnf(left), negate_to_nnf(right))
        case Eventually(operand):
            return _apply_temporal(Globally, negate_to_nnf(operand))
        case Globally(operand):
            return _apply_temporal(Eventually, negate_to_nnf(operand))


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def convert_to_nnf(formula: Formula) -> Formula:
    """Convert a formula to negation normal form."""
    match formula:
        case LinearComparison():
            return _simplify_comparison(formula)
        case Constant():
            return formula
        case Not(operand):
            return negate_to_nnf(operand)
        case Implies(left, right):
            return disjoin_formulas(negate_to_nnf(left), convert_to_nnf(right))
        case And(left, right):
            return conjoin_formulas(convert_to_nnf(left), convert_to_nnf(right))
        case Or(left, right):
            return disjoin_formulas(convert_to_nnf(left), convert_to_nnf(right))
        case Eventually(operand):
            return _apply_temporal(Eventually, convert_to_nnf(operand))
        case Globally(operand):
            return _apply_temporal(Globally, convert_to_nnf(operand))


def _simplify_comparison(comparison: LinearComparison) -> Formula:
    """Move all names to the left, and decide a comparison that has the same value for all natural numbers."""
    difference, operator = comparison.subtract_sides(), comparison.operator
    # Bounds of the difference over all natural numbers; None if there is no bound.
    least = None if any(factor < 0 for _, factor in difference.factors) else difference.constant
    most = None if any(factor > 0 for _, factor in difference.factors) else difference.constant
    positive = least is not None and least > 0
    negative = most is not None and most < 0
    if least is not None and (least == most or positive):
        return Constant(bool(apply_comparison(least, operator, 0)))
    if negative:
        return Constant(bool(apply_comparison(-1, operator, 0)))
    if operator in (">=", "<") and least == 0:
        return Constant(operator == ">=")
    if operator in ("<=", ">") and most == 0:
        return Constant(operator == "<=")
    return LinearComparison(
        LinearExpression(difference.factors), operator, LinearExpression(constant=-difference.constant)
    )


def conjoin_formulas(left: Formula, right: Formula) -> Formula:
    if isinstance(left, Constant):
        return right if left.value else left
    if isinstance(right, Constant):
        return left if right.value else right
    return And(left, right)


def disjoin_formulas(left: Formula, right: Formula) -> Formula:
    if isinstance(left, Constant):
        return left if left.value else right
    if isinstance(right, Constant):
        return right if right.value else left
    return Or(left, right)


def _apply_temporal(operator: type[Eventually] | type[Globally], operand: Formula) -> Formula:
    return operand if isinstance(operand, Constant) else operator(operand)


def conjoin_all(formulas: Iterable[Formula]) -> Formula:
    return _join_balanced(conjoin_formulas, formulas, Constant(True))


def disjoin_all(formulas: Iterable[Formula]) -> Formula:
    return _join_balanced(disjoin_formulas, formulas, Constant(False))


def _join_balanced(join: Callable[[Formula, Formula], Formula], formulas: Iterable[Formula], empty: Formula) -> Formula:
    """Join formulas in a balanced tree, since recursion over formulas limits their depth."""
    level = list(formulas)
    while len(level) > 1:
        pairs = [join(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = [*pairs, *level[2 * len(pairs) :]]
    return level[0] if level else empty
