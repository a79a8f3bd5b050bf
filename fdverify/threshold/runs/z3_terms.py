"""Translation of formulas about one configuration to Z3 terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from fdverify.threshold.claims.thresholds import Threshold
from fdverify.threshold.ltl_formula import (
    And,
    Constant,
    Formula,
    Implies,
    LinearComparison,
    LinearExpression,
    Not,
    Or,
    apply_comparison,
)

Values = Mapping[str, Any]
"""A Z3 term for each parameter, shared variable and location."""


def encode_linear(expression: LinearExpression, values: Values) -> Any:
    terms = [values[name] if factor == 1 else factor * values[name] for name, factor in expression.factors]
    if expression.constant or not terms:
        terms.append(z3.IntVal(expression.constant))
    return sum_terms(terms)


def encode_formula(formula: Formula, values: Values) -> Any:
    """Translate a formula without temporal operators, evaluated at these values."""
    return encode_formula_by(formula, lambda comparison: values)


def encode_formula_by(formula: Formula, where: Callable[[LinearComparison], Values]) -> Any:
    """Translate a formula without temporal operators, where ``where`` chooses the values for each comparison."""
    match formula:
        case LinearComparison(left, operator, right):
            values = where(formula)
            return apply_comparison(encode_linear(left, values), operator, encode_linear(right, values))
        case Constant(value):
            return z3.BoolVal(value)
        case Not(operand):
            return z3.Not(encode_formula_by(operand, where))
        case And(left, right):
            return z3.And(encode_formula_by(left, where), encode_formula_by(right, where))
        case Or(left, right):
            return z3.Or(encode_formula_by(left, where), encode_formula_by(right, where))
        case Implies(left, right):
            return z3.Implies(encode_formula_by(left, where), encode_formula_by(right, where))
        case _:
            raise AssertionError("a temporal formula cannot be evaluated in a single configuration")


def encode_reached(threshold: Threshold, values: Values) -> Any:
    return encode_linear(threshold.reached, values) >= encode_linear(threshold.needed, values)


def sum_terms(terms: Sequence[Any]) -> Any:
    """Build a sum; with fewer than two operands it would be SMT-LIB text that some solvers reject."""
    return z3.IntVal(0) if not terms else terms[0] if len(terms) == 1 else z3.Sum(terms)


def conjoin_terms(terms: Sequence[Any]) -> Any:
    return z3.BoolVal(True) if not terms else terms[0] if len(terms) == 1 else z3.And(*terms)


def disjoin_terms(terms: Sequence[Any]) -> Any:
    return z3.BoolVal(False) if not terms else terms[0] if len(terms) == 1 else z3.Or(*terms)
