"""Formulas for bounds: polynomials in a few parameters, by cases of least values and residues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fdverify.errors import InternalError
from fdverify.logic import And, If, Number, Or, Truth
from fdverify.models.system import State


@dataclass(frozen=True, order=True)
class Factor:
    """A named number, possibly rounded to a multiple of the modulus."""

    name: str
    rounded: str = ""
    """``down``, ``up``, or ``up from one less``."""
    modulus: int = 1

    def compute_rounding_offset(self, residue: int) -> int:
        """Return what rounding adds to a number with this residue."""
        match self.rounded:
            case "down":
                return -residue
            case "up":
                return -residue % self.modulus
            case "up from one less":
                return (1 - residue) % self.modulus - 1
        return 0

    def __str__(self) -> str:
        name = self.name
        match self.rounded:
            case "down":
                return f"({name}-{name}%{self.modulus})"
            case "up":
                return f"({name}+(-{name})%{self.modulus})"
            case "up from one less":
                return f"({name}-1+(1-{name})%{self.modulus})"
        return name


ROUNDINGS = ("", "down", "up", "up from one less")

Monomial: TypeAlias = tuple[Factor, ...]
"""A product of factors; the empty product is 1."""


def evaluate_monomial(monomial: Monomial, s: State) -> Number:
    """Evaluate the product.

    What rounding adds is given by a case for each residue, so that a solver sees products of named numbers only.
    """
    if not monomial:
        return 1
    factor, rest = monomial[0], evaluate_monomial(monomial[1:], s)
    number = s[factor.name]
    value = number * rest
    if not factor.rounded:
        return value
    added = factor.compute_rounding_offset(0) * rest
    for residue in range(1, factor.modulus):
        added = If(number % factor.modulus == residue, factor.compute_rounding_offset(residue) * rest, added)
    return value + added


@dataclass(frozen=True)
class Polynomial:
    """A polynomial with integer coefficients: a sum of multiples of monomials."""

    terms: tuple[tuple[Monomial, int], ...]

    def evaluate(self, s: State) -> Number:
        total: Number = 0
        for monomial, times in self.terms:
            total = total + times * evaluate_monomial(monomial, s)
        return total

    def __str__(self) -> str:
        """Format the sum as an option such as ``--timeout`` takes it."""
        text = ""
        for monomial, times in sorted(self.terms, key=lambda term: (-len(term[0]), term[0])):
            if times == 0:
                continue
            size = [] if abs(times) == 1 and monomial else [str(abs(times))]
            sign = "-" if times < 0 else "+" if text else ""
            text += sign + "*".join([*size, *map(str, monomial)])
        return text or "0"


@dataclass(frozen=True)
class FormulaCase:
    """A sum with its condition: some numbers have their least value or a larger one, others have certain residues."""

    least: tuple[tuple[str, int, bool], ...]
    """A name, its least value, and whether it has that value."""
    residues: tuple[tuple[str, tuple[int, ...]], ...]
    """A name, and the residues that it may have."""
    formula: Polynomial
    modulus: int = 1
    """The modulus of the residues."""

    WRITTEN = ("when", "formula")

    def is_applicable(self, s: State) -> Truth:
        conditions = [s[name] == value if has else s[name] > value for name, value, has in self.least]
        return And(*conditions, *(Or(*(s[name] % self.modulus == r for r in values)) for name, values in self.residues))

    @property
    def when(self) -> str:
        """Format the condition for a reader; empty if it always holds."""
        sizes = [f"{name} = {value}" if has else f"{name} >= {value + 1}" for name, value, has in self.least]
        return ", ".join(
            [*sizes, *(f"{name} % {self.modulus} = {_join_with_or(values)}" for name, values in self.residues)]
        )


def _join_with_or(numbers: Sequence[int]) -> str:
    return " or ".join(str(number) for number in numbers)


@dataclass(frozen=True)
class BoundFormula:
    """A sum for each of several cases, which together cover all values."""

    cases: tuple[FormulaCase, ...]

    def evaluate(self, s: State) -> Number:
        *others, last = self.cases
        value = last.formula.evaluate(s)
        for case in reversed(others):
            value = If(case.is_applicable(s), case.formula.evaluate(s), value)
        return value

    def evaluate_at(self, values: Mapping[str, int]) -> int:
        state = State(values)
        for case in self.cases:
            if case.is_applicable(state):
                return int(case.formula.evaluate(state))
        raise InternalError("a formula leaves a case out")

    def __str__(self) -> str:
        return "; ".join(f"{case.formula} if {case.when}" if case.when else str(case.formula) for case in self.cases)


@dataclass(frozen=True)
class StatedFormula:
    """A formula that the author of a proof has stated in words."""

    text: str
    cases: tuple[FormulaCase, ...] = ()

    def __str__(self) -> str:
        return self.text
