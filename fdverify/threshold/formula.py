"""LTL formulas over linear comparisons: guards, resilience conditions, initial constraints and specifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Linear:
    """A linear expression with integer coefficients, in a unique form: no coefficient is 0, and names are sorted."""

    factors: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @staticmethod
    def of(factors: Mapping[str, int], constant: int = 0) -> Linear:
        return Linear(tuple(sorted((name, factor) for name, factor in factors.items() if factor != 0)), constant)

    def plus(self, other: Linear, times: int = 1) -> Linear:
        total = dict(self.factors)
        for name, factor in other.factors:
            total[name] = total.get(name, 0) + times * factor
        return Linear.of(total, self.constant + times * other.constant)

    def times(self, factor: int) -> Linear:
        return Linear().plus(self, factor)

    def names(self) -> set[str]:
        return {name for name, _ in self.factors}

    def at(self, values: Mapping[str, int]) -> int:
        return self.constant + sum(factor * values[name] for name, factor in self.factors)


@dataclass(frozen=True)
class Comparison:
    """Two linear expressions and one of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``."""

    left: Linear
    operator: str
    right: Linear

    def difference(self) -> Linear:
        return self.left.plus(self.right, -1)


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


Formula: TypeAlias = Comparison | Constant | Not | And | Or | Implies | Eventually | Globally


def parts(formula: Formula) -> Iterator[Formula]:
    """Yield the formula and all its subformulas."""
    yield formula
    match formula:
        case Not(operand) | Eventually(operand) | Globally(operand):
            yield from parts(operand)
        case And(left, right) | Or(left, right) | Implies(left, right):
            yield from parts(left)
            yield from parts(right)


def names(formula: Formula) -> set[str]:
    used: set[str] = set()
    for part in parts(formula):
        if isinstance(part, Comparison):
            used |= part.left.names() | part.right.names()
    return used


def is_temporal(formula: Formula) -> bool:
    return any(isinstance(part, Eventually | Globally) for part in parts(formula))


def holds(formula: Formula, values: Mapping[str, int]) -> bool:
    """Evaluate a formula without temporal operators in one configuration."""
    match formula:
        case Comparison(left, operator, right):
            return bool(compared(left.at(values), operator, right.at(values)))
        case Constant(value):
            return value
        case Not(operand):
            return not holds(operand, values)
        case And(left, right):
            return holds(left, values) and holds(right, values)
        case Or(left, right):
            return holds(left, values) or holds(right, values)
        case Implies(left, right):
            return not holds(left, values) or holds(right, values)
        case _:
            raise AssertionError("a temporal formula cannot be evaluated in a single configuration")


def compared(left: Any, operator: str, right: Any) -> Any:
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
