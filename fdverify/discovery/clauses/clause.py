"""Generated conjuncts that people can read: premises and a conclusion over the model's variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias

from fdverify.logic import And, Implies, Not, Number, Truth
from fdverify.models.system import Property, State


@dataclass(frozen=True)
class Linear:
    """A sum of multiples of named integers and a constant; the name ``a*b`` stands for the product of two of them."""

    coefficients: tuple[tuple[str, int], ...]
    constant: int = 0

    @staticmethod
    def of(coefficients: Mapping[str, int], constant: int = 0) -> Linear:
        return Linear(tuple((name, times) for name, times in coefficients.items() if times != 0), constant)

    def value(self, s: State) -> Number:
        total: Number = self.constant
        for name, times in self.coefficients:
            value = _read(s, name)
            total = total + (value if times == 1 else times * value)
        return total

    def plus(self, other: Linear, times: int = 1) -> Linear:
        total = dict(self.coefficients)
        for name, coefficient in other.coefficients:
            total[name] = total.get(name, 0) + times * coefficient
        return Linear.of(total, self.constant + times * other.constant)

    def minus(self, other: Linear) -> Linear:
        return self.plus(other, -1)

    def shifted(self, number: int) -> Linear:
        return Linear(self.coefficients, self.constant + number)

    def source(self) -> str:
        text = ""
        # Positive terms come first, so that the text begins with a minus only if all terms are negative.
        for name, times in sorted(self.coefficients, key=lambda part: part[1] < 0):
            words = " * ".join(f"s.{factor}" for factor in name.split("*"))
            part = words if abs(times) == 1 else f"{abs(times)} * {words}"
            text = _joined(text, times, part)
        return text if text and not self.constant else _joined(text, self.constant, str(abs(self.constant)))


def _read(s: State, name: str) -> Number:
    first, *others = name.split("*")
    value: Number = s[first]
    for other in others:
        value = value * s[other]
    return value


def _joined(text: str, sign: int, part: str) -> str:
    if not text:
        return f"-{part}" if sign < 0 else part
    return f"{text} - {part}" if sign < 0 else f"{text} + {part}"


@dataclass(frozen=True)
class IsAt:
    """A program counter has a given label, or does not have it."""

    subject: str
    label: IntEnum
    yes: bool = True

    def holds(self, s: State) -> Truth:
        return s[self.subject] == self.label if self.yes else s[self.subject] != self.label

    def negated(self) -> IsAt:
        return replace(self, yes=not self.yes)

    def source(self) -> str:
        sign = "==" if self.yes else "!="
        return f"s.{self.subject} {sign} {type(self.label).__name__}.{self.label.name}"


@dataclass(frozen=True)
class Is:
    """A flag is set, or is not set."""

    subject: str
    yes: bool

    def holds(self, s: State) -> Truth:
        return s[self.subject] if self.yes else Not(s[self.subject])

    def negated(self) -> Is:
        return replace(self, yes=not self.yes)

    def source(self) -> str:
        return f"s.{self.subject}" if self.yes else f"Not(s.{self.subject})"


@dataclass(frozen=True)
class InTransit:
    """A message of an age from ``low`` to ``high`` is in transit, or is not; the defaults are 0 and Δ."""

    subject: str
    bound: str
    yes: bool
    low: Linear | None = None
    high: Linear | None = None

    def holds(self, s: State) -> Truth:
        buffer = s[self.subject]
        if self.low is None and self.high is None:
            return Not(buffer.empty()) if self.yes else buffer.empty()
        if self.low == self.high and self.low is not None:
            in_transit = buffer.has(self.low.value(s))
        else:
            low = 0 if self.low is None else self.low.value(s)
            high = s[self.bound] if self.high is None else self.high.value(s)
            in_transit = buffer.any(low, high)
        return in_transit if self.yes else Not(in_transit)

    def negated(self) -> InTransit:
        return replace(self, yes=not self.yes)

    def source(self) -> str:
        if self.low is None and self.high is None:
            empty = f"s.{self.subject}.empty()"
            return f"Not({empty})" if self.yes else empty
        if self.low == self.high and self.low is not None:
            in_transit = f"s.{self.subject}.has({self.low.source()})"
        else:
            low = "0" if self.low is None else self.low.source()
            high = f"s.{self.bound}" if self.high is None else self.high.source()
            in_transit = f"s.{self.subject}.any({low}, {high})"
        return in_transit if self.yes else f"Not({in_transit})"


@dataclass(frozen=True)
class AtMost:
    """A sum is at most another one."""

    left: Linear
    right: Linear

    @staticmethod
    def zero(excess: Linear) -> AtMost:
        """Build the condition that a sum is at most 0, with positive coefficients on both sides."""
        left = {name: times for name, times in excess.coefficients if times > 0}
        right = {name: -times for name, times in excess.coefficients if times < 0}
        return AtMost(Linear.of(left), Linear.of(right, -excess.constant))

    def holds(self, s: State) -> Truth:
        return self.left.value(s) <= self.right.value(s)

    def negated(self) -> AtMost:
        return AtMost.zero(self.right.minus(self.left).shifted(1))

    def source(self) -> str:
        if not self.left.coefficients and self.left.constant == 0 and len(self.right.coefficients) == 1:
            least = Linear((), -self.right.constant)
            return f"{self.right.shifted(-self.right.constant).source()} >= {least.source()}"
        return f"{self.left.source()} <= {self.right.source()}"


@dataclass(frozen=True)
class HasResidue:
    """A sum has a given residue, or does not have it."""

    sum: Linear
    modulus: int
    residue: int
    yes: bool = True

    def holds(self, s: State) -> Truth:
        residue = self.sum.value(s) % self.modulus
        return residue == self.residue if self.yes else residue != self.residue

    def negated(self) -> HasResidue:
        return replace(self, yes=not self.yes)

    def source(self) -> str:
        total = self.sum.source()
        total = total if len(self.sum.coefficients) == 1 and total.startswith("s.") else f"({total})"
        return f"{total} % {self.modulus} {'==' if self.yes else '!='} {self.residue}"


Condition: TypeAlias = IsAt | Is | InTransit | AtMost | HasResidue


@dataclass(frozen=True)
class Clause:
    """An implication: if all premises hold, so does the conclusion."""

    premises: tuple[Condition, ...]
    conclusion: Condition

    def holds(self, s: State) -> Truth:
        if not self.premises:
            return self.conclusion.holds(s)
        return Implies(And(*(premise.holds(s) for premise in self.premises)), self.conclusion.holds(s))

    def source(self) -> str:
        if not self.premises:
            return self.conclusion.source()
        return f"Implies({self.premise_source()}, {self.conclusion.source()})"

    def premise_source(self) -> str:
        premises = [premise.source() for premise in self.premises]
        return f"And({', '.join(premises)})" if len(premises) > 1 else "".join(premises)

    def named(self, name: str) -> Property:
        return Property(name, self.holds, self.source())
