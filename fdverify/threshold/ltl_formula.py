"""LTL formulas over linear comparisons: guards, resilience conditions, initial constraints and specifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class LinearExpression:
    """A linear expression with integer coefficients, in a unique form: no coefficient is 0, and names are sorted."""

    factors: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @staticmethod
    def from_factors(factors: Mapping[str, int], constant: int = 0) -> LinearExpression:
        return LinearExpression(
            tuple(sorted((name, factor) for name, factor in factors.items() if factor != 0)), constant
        )

    def add(self, other: LinearExpression, times: int = 1) -> LinearExpression:
        total = dict(self.factors)
        for name, factor in other.factors:
            total[name] = total.get(name, 0) + times * factor
        return LinearExpression.from_factors(total, self.constant + times * other.constant)

    def scale(self, factor: int) -> LinearExpression:
        return LinearExpression().add(self, factor)

    def collect_names(self) -> set[str]:
        return {name for name, _ in self.factors}

    def evaluate(self, values: Mapping[str, int]) -> int:
        return self.constant + sum(factor * values[name] for name, factor in self.factors)


@dataclass(frozen=True)
class LinearComparison:
    """Two linear expressions and one of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``."""

    left: LinearExpression
    operator: str
    right: LinearExpression

    def subtract_sides(self) -> LinearExpression:
        return self.left.add(self.right, -1)


@dataclass(frozen=True)
class Constant:
    value: bool


@dataclass(frozen=True)
class Not:
    operand: Formula


@dataclass(frozen=True)
class And:
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Or:
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Implies:
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Eventually:
    operand: Formula


@dataclass(frozen=True)
class Globally:
    operand: Formula


Formula: TypeAlias = LinearComparison | Constant | Not | And | Or | Implies | Eventually | Globally


def iterate_subformulas(formula: Formula) -> Iterator[Formula]:
    """Yield the formula and all its subformulas."""
    yield formula
    match formula:
        case Not(operand) | Eventually(operand) | Globally(operand):
            yield from iterate_subformulas(operand)
        case And(left, right) | Or(left, right) | Implies(left, right):
            yield from iterate_subformulas(left)
            yield from iterate_subformulas(right)


def collect_formula_names(formula: Formula) -> set[str]:
    used: set[str] = set()
    for part in iterate_subformulas(formula):
        if isinstance(part, LinearComparison):
            used |= part.left.collect_names() | part.right.collect_names()
    return used


def is_temporal(formula: Formula) -> bool:
    return any(isinstance(part, Eventually | Globally) for part in iterate_subformulas(formula))


def evaluate_formula(formula: Formula, values: Mapping[str, int]) -> bool:
    """Evaluate a formula without temporal operators in one configuration."""
    match formula:
        case LinearComparison(left, operator, right):
            return bool(apply_comparison(left.evaluate(values), operator, right.evaluate(values)))
        case Constant(value):
            return value
        case Not(operand):
            return not evaluate_formula(operand, values)
        case And(left, right):
            return evaluate_formula(left, values) and evaluate_formula(right, values)
        case Or(left, right):
            return evaluate_formula(left, values) or evaluate_formula(right, values)
        case Implies(left, right):
            return not evaluate_formula(left, values) or evaluate_formula(right, values)
        case _:
            raise AssertionError("a temporal formula cannot be evaluated in a single configuration")


def apply_comparison(left: Any, operator: str, right: Any) -> Any:
    """Compare two numbers, or build the comparison of two solver terms."""
    match operator:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def extract_premise(formula: Formula) -> Formula:
    """Return the premise: a run that does not satisfy it satisfies the specification vacuously."""
    match formula:
        case Implies(left, right):
            nested = extract_premise(right)
            return left if nested == Constant(True) else And(left, nested)
        case Globally(operand):
            nested = extract_premise(operand)
            return nested if nested == Constant(True) else Eventually(nested)
        case _:
            return Constant(True)
