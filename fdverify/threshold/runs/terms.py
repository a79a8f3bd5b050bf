"""Translation of formulas about one configuration to Z3 terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from fdverify.threshold.claims.thresholds import Threshold
from fdverify.threshold.formula import And, Comparison, Constant, Formula, Implies, Linear, Not, Or, compared

Values = Mapping[str, Any]
"""A Z3 term for each parameter, shared variable and location."""


def linear(expression: Linear, values: Values) -> Any:
    terms = [values[name] if factor == 1 else factor * values[name] for name, factor in expression.factors]
    if expression.constant or not terms:
        terms.append(z3.IntVal(expression.constant))
    return total(terms)


def truth(formula: Formula, values: Values) -> Any:
    """Translate a formula without temporal operators, evaluated at these values."""
    return truth_by(formula, lambda comparison: values)


def truth_by(formula: Formula, where: Callable[[Comparison], Values]) -> Any:
    """Translate a formula without temporal operators, where ``where`` chooses the values for each comparison."""
    match formula:
        case Comparison(left, operator, right):
            values = where(formula)
            return compared(linear(left, values), operator, linear(right, values))
        case Constant(value):
            return z3.BoolVal(value)
        case Not(operand):
            return z3.Not(truth_by(operand, where))
        case And(left, right):
            return z3.And(truth_by(left, where), truth_by(right, where))
        case Or(left, right):
            return z3.Or(truth_by(left, where), truth_by(right, where))
        case Implies(left, right):
            return z3.Implies(truth_by(left, where), truth_by(right, where))
        case _:
            raise AssertionError("a temporal formula cannot be evaluated in a single configuration")


def is_reached(threshold: Threshold, values: Values) -> Any:
    return linear(threshold.reached, values) >= linear(threshold.needed, values)


def total(terms: Sequence[Any]) -> Any:
    """Build a sum; with fewer than two operands it would be SMT-LIB text that some solvers reject."""
    return z3.IntVal(0) if not terms else terms[0] if len(terms) == 1 else z3.Sum(terms)


def all_of(terms: Sequence[Any]) -> Any:
    return z3.BoolVal(True) if not terms else terms[0] if len(terms) == 1 else z3.And(*terms)


def any_of(terms: Sequence[Any]) -> Any:
    return z3.BoolVal(False) if not terms else terms[0] if len(terms) == 1 else z3.Or(*terms)
