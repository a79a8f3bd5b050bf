"""Formulas about the configurations and runs of a threshold automaton."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Sum:
    """Names times factors, none of which is zero, plus a number."""

    factors: tuple[tuple[str, int], ...]
    constant: int

    def plus(self, other: Sum, times: int) -> Sum:
        factors = dict(self.factors)
        for name, factor in other.factors:
            factors[name] = factors.get(name, 0) + times * factor
        return Sum(
            tuple(sorted((name, factor) for name, factor in factors.items() if factor)),
            self.constant + times * other.constant,
        )

    def given(self, values: Mapping[str, int]) -> Sum:
        """The same with values for some names."""
        known = sum(factor * values[name] for name, factor in self.factors if name in values)
        return Sum(tuple(each for each in self.factors if each[0] not in values), self.constant + known)

    def at(self, values: Mapping[str, int]) -> int:
        return self.constant + sum(factor * values[name] for name, factor in self.factors)


NOTHING = Sum((), 0)


@dataclass(frozen=True)
class Compared:
    """How a sum compares with zero."""

    difference: Sum
    operator: str


@dataclass(frozen=True)
class Truth:
    value: bool


@dataclass(frozen=True)
class Negated:
    operand: Formula


@dataclass(frozen=True)
class Both:
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Either:
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Later:
    """Now or at some later time."""

    operand: Formula


@dataclass(frozen=True)
class Always:
    """Now and at all later times."""

    operand: Formula


@dataclass(frozen=True)
class Claim:
    """A formula about one configuration, by its place in a list."""

    place: int


Formula = Claim | Compared | Truth | Negated | Both | Either | Later | Always

COMPARISONS: dict[str, Callable[[int], bool]] = {
    "==": lambda number: number == 0,
    "!=": lambda number: number != 0,
    "<": lambda number: number < 0,
    "<=": lambda number: number <= 0,
    ">": lambda number: number > 0,
    ">=": lambda number: number >= 0,
}


def true_at(formula: Formula, values: Mapping[str, int]) -> bool:
    """Whether a formula without times holds."""
    match formula:
        case Compared(difference, operator):
            return COMPARISONS[operator](difference.at(values))
        case Truth(value):
            return value
        case Negated(operand):
            return not true_at(operand, values)
        case Both(left, right):
            return true_at(left, values) and true_at(right, values)
        case Either(left, right):
            return true_at(left, values) or true_at(right, values)
        case Later() | Always() | Claim():
            raise ValueError("<> and [] are for specifications")


def names_of(formula: Formula) -> set[str]:
    match formula:
        case Compared(difference):
            return {name for name, _ in difference.factors}
        case Truth() | Claim():
            return set()
        case Negated(operand) | Later(operand) | Always(operand):
            return names_of(operand)
        case Both(left, right) | Either(left, right):
            return names_of(left) | names_of(right)
