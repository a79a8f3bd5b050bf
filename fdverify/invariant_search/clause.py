"""Generated conjuncts that people can read: premises and a conclusion over the model's variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias

from fdverify.logic import And, Implies, Not, Number, Truth
from fdverify.models.system import Property, State


@dataclass(frozen=True)
class LinearSum:
    """A sum of multiples of named integers and a constant; the name ``a*b`` stands for the product of two of them."""

    coefficients: tuple[tuple[str, int], ...]
    constant: int = 0

    @staticmethod
    def from_coefficients(coefficients: Mapping[str, int], constant: int = 0) -> LinearSum:
        return LinearSum(tuple((name, times) for name, times in coefficients.items() if times != 0), constant)

    def evaluate(self, s: State) -> Number:
        total: Number = self.constant
        for name, times in self.coefficients:
            value = _read_product(s, name)
            total = total + (value if times == 1 else times * value)
        return total

    def add(self, other: LinearSum, times: int = 1) -> LinearSum:
        total = dict(self.coefficients)
        for name, coefficient in other.coefficients:
            total[name] = total.get(name, 0) + times * coefficient
        return LinearSum.from_coefficients(total, self.constant + times * other.constant)

    def subtract(self, other: LinearSum) -> LinearSum:
        return self.add(other, -1)

    def add_constant(self, number: int) -> LinearSum:
        return LinearSum(self.coefficients, self.constant + number)

    def to_source(self) -> str:
        text = ""
        # Positive terms come first, so that the text begins with a minus only if all terms are negative.
        for name, times in sorted(self.coefficients, key=lambda part: part[1] < 0):
            words = " * ".join(f"s.{factor}" for factor in name.split("*"))
            part = words if abs(times) == 1 else f"{abs(times)} * {words}"
            text = _append_part(text, times, part)
        return text if text and not self.constant else _append_part(text, self.constant, str(abs(self.constant)))


def _read_product(s: State, name: str) -> Number:
    first, *others = name.split("*")
    value: Number = s[first]
    for other in others:
        value = value * s[other]
    return value


def _append_part(text: str, sign: int, part: str) -> str:
    if not text:
        return f"-{part}" if sign < 0 else part
    return f"{text} - {part}" if sign < 0 else f"{text} + {part}"


@dataclass(frozen=True)
class LabelIs:
    """A program counter has a given label, or does not have it."""

    subject: str
    label: IntEnum
    yes: bool = True

    def holds(self, s: State) -> Truth:
        return s[self.subject] == self.label if self.yes else s[self.subject] != self.label

    def negate(self) -> LabelIs:
        return replace(self, yes=not self.yes)

    def to_source(self) -> str:
        sign = "==" if self.yes else "!="
        return f"s.{self.subject} {sign} {type(self.label).__name__}.{self.label.name}"


@dataclass(frozen=True)
class FlagIs:
    """A flag is set, or is not set."""

    subject: str
    yes: bool

    def holds(self, s: State) -> Truth:
        return s[self.subject] if self.yes else Not(s[self.subject])

    def negate(self) -> FlagIs:
        return replace(self, yes=not self.yes)

    def to_source(self) -> str:
        return f"s.{self.subject}" if self.yes else f"Not(s.{self.subject})"


@dataclass(frozen=True)
class InTransit:
    """A message of an age from ``low`` to ``high`` is in transit, or is not; the defaults are 0 and Δ."""

    subject: str
    bound: str
    yes: bool
    low: LinearSum | None = None
    high: LinearSum | None = None

    def holds(self, s: State) -> Truth:
        buffer = s[self.subject]
        if self.low is None and self.high is None:
            return Not(buffer.empty()) if self.yes else buffer.empty()
        if self.low == self.high and self.low is not None:
            in_transit = buffer.has(self.low.evaluate(s))
        else:
            low = 0 if self.low is None else self.low.evaluate(s)
            high = s[self.bound] if self.high is None else self.high.evaluate(s)
            in_transit = buffer.any(low, high)
        return in_transit if self.yes else Not(in_transit)

    def negate(self) -> InTransit:
        return replace(self, yes=not self.yes)

    def to_source(self) -> str:
        if self.low is None and self.high is None:
            empty = f"s.{self.subject}.empty()"
            return f"Not({empty})" if self.yes else empty
        if self.low == self.high and self.low is not None:
            in_transit = f"s.{self.subject}.has({self.low.to_source()})"
        else:
            low = "0" if self.low is None else self.low.to_source()
            high = f"s.{self.bound}" if self.high is None else self.high.to_source()
            in_transit = f"s.{self.subject}.any({low}, {high})"
        return in_transit if self.yes else f"Not({in_transit})"


@dataclass(frozen=True)
class AtMost:
    """A sum is at most another one."""

    left: LinearSum
    right: LinearSum

    @staticmethod
    def from_excess(excess: LinearSum) -> AtMost:
        """Build the condition that a sum is at most 0, with positive coefficients on both sides."""
        left = {name: times for name, times in excess.coefficients if times > 0}
        right = {name: -times for name, times in excess.coefficients if times < 0}
        return AtMost(LinearSum.from_coefficients(left), LinearSum.from_coefficients(right, -excess.constant))

    def holds(self, s: State) -> Truth:
        return self.left.evaluate(s) <= self.right.evaluate(s)

    def negate(self) -> AtMost:
        return AtMost.from_excess(self.right.subtract(self.left).add_constant(1))

    def to_source(self) -> str:
        if not self.left.coefficients and self.left.constant == 0 and len(self.right.coefficients) == 1:
            least = LinearSum((), -self.right.constant)
            return f"{self.right.add_constant(-self.right.constant).to_source()} >= {least.to_source()}"
        return f"{self.left.to_source()} <= {self.right.to_source()}"


@dataclass(frozen=True)
class HasResidue:
    """A sum has a given residue, or does not have it."""

    sum: LinearSum
    modulus: int
    residue: int
    yes: bool = True

    def holds(self, s: State) -> Truth:
        residue = self.sum.evaluate(s) % self.modulus
        return residue == self.residue if self.yes else residue != self.residue

    def negate(self) -> HasResidue:
        return replace(self, yes=not self.yes)

    def to_source(self) -> str:
        total = self.sum.to_source()
        total = total if len(self.sum.coefficients) == 1 and total.startswith("s.") else f"({total})"
        return f"{total} % {self.modulus} {'==' if self.yes else '!='} {self.residue}"


Condition: TypeAlias = LabelIs | FlagIs | InTransit | AtMost | HasResidue


@dataclass(frozen=True)
class Clause:
    """An implication: if all premises hold, so does the conclusion."""

    premises: tuple[Condition, ...]
    conclusion: Condition

    def holds(self, s: State) -> Truth:
        if not self.premises:
            return self.conclusion.holds(s)
        return Implies(And(*(premise.holds(s) for premise in self.premises)), self.conclusion.holds(s))

    def to_source(self) -> str:
        if not self.premises:
            return self.conclusion.to_source()
        return f"Implies({self.premises_to_source()}, {self.conclusion.to_source()})"

    def premises_to_source(self) -> str:
        premises = [premise.to_source() for premise in self.premises]
        return f"And({', '.join(premises)})" if len(premises) > 1 else "".join(premises)

    def to_property(self, name: str) -> Property:
        return Property(name, self.holds, self.to_source())
