"""Translation of linear integer terms to truth values "x is at least n" (order encoding).

Such a truth value is made only for a number n that a comparison needs.  So a parameter needs no upper bound: in a run
of k rounds it is compared with what has grown for k rounds, and all values above that are alike.  A SAT solver learns
clauses that relate integers to each other, such as "x is at least n only if y is"; linear arithmetic learns none.  What
would need infinitely many numbers, or very many, has no encoding.
"""

from __future__ import annotations

from bisect import bisect
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, prod
from typing import Any, TypeAlias

import z3

from fdverify.logic import And, If, Not, Or, Truth
from fdverify.symbolic.values import Bool, lift_truth

_MOST_NUMBERS = 1000
"""A comparison that needs more numbers than this one has no encoding: linear arithmetic is better at it."""


class NoOrderEncoding(Exception):
    """A term has no order encoding."""


@dataclass(frozen=True)
class Interval:
    """Bounds on a value; a bound may be infinite."""

    low: float
    high: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def scale(self, factor: int) -> Interval:
        """Multiply by a factor other than 0."""
        ends = factor * self.low, factor * self.high
        return Interval(min(ends), max(ends))

    def divide(self, divisor: int) -> Interval:
        """Divide by a positive number, rounding down."""
        low, high = (end // divisor if isfinite(end) else end for end in (self.low, self.high))
        return Interval(low, high)


@dataclass(frozen=True, eq=False)
class NamedInteger:
    """A parameter, or an integer that a fact defines."""

    name: str
    bounds: Interval
    meaning: IntegerSum | None = None


@dataclass(frozen=True, eq=False)
class ChosenInteger:
    """One of two integers."""

    condition: Bool
    then: IntegerSum
    otherwise: IntegerSum

    @cached_property
    def bounds(self) -> Interval:
        then, otherwise = self.then.bounds, self.otherwise.bounds
        return Interval(min(then.low, otherwise.low), max(then.high, otherwise.high))


@dataclass(frozen=True, eq=False)
class IntegerQuotient:
    """An integer divided by a positive number, rounded down."""

    dividend: IntegerSum
    divisor: int

    @cached_property
    def bounds(self) -> Interval:
        return self.dividend.bounds.divide(self.divisor)


Summand: TypeAlias = NamedInteger | ChosenInteger | IntegerQuotient


@dataclass(frozen=True, eq=False)
class IntegerSum:
    """Multiples of different summands, by factors other than 0, and a constant."""

    multiples: tuple[tuple[int, Summand], ...]
    constant: int = 0

    @cached_property
    def bounds(self) -> Interval:
        start = Interval(self.constant, self.constant)
        return sum((summand.bounds.scale(factor) for factor, summand in self.multiples), start)


class OrderTranslator:
    """Translates terms over integers that are parameters, with their least values, or defined by a fact."""

    def __init__(self, least: Mapping[str, int]) -> None:
        self._integers = {name: NamedInteger(name, Interval(value, inf)) for name, value in least.items()}
        self._numbers: dict[str, list[int]] = {name: [] for name in least}
        self._undefined: deque[tuple[str, int]] = deque()
        self._definitions: list[Any] = []
        self.literals: dict[tuple[str, int], Bool] = {}
        """For the name of an integer and a number: the truth value "the integer is at least this number"."""
        # Keyed by term identity.  The term is kept alive beside its translation, so that Z3 cannot reuse the identity.
        self._truths: dict[int, tuple[Any, Any]] = {}
        self._sums: dict[int, tuple[Any, IntegerSum]] = {}
        self._summands: dict[int, tuple[Any, Summand]] = {}
        self._comparisons: dict[tuple[tuple[tuple[int, Summand], ...], int], Truth] = {}

    def translate_fact(self, term: Any) -> Any:
        """Translate a fact.  An equation ``constant == term`` with a new integer constant only defines the constant."""
        if z3.is_eq(term) and z3.is_int(term.arg(0)):
            # Z3 may swap the sides of ``constant == literal``, so the constant can be on either side.
            for constant, meaning in (term.children(), reversed(term.children())):
                if _is_constant(constant) and constant.decl().name() not in self._integers:
                    self._define_integer(constant.decl().name(), self._read_sum(meaning))
                    return z3.BoolVal(True)
        return self.translate_truth(term)

    def _define_integer(self, name: str, meaning: IntegerSum) -> None:
        self._integers[name] = NamedInteger(name, meaning.bounds, meaning)
        self._numbers[name] = []

    def take_definitions(self) -> list[Any]:
        """Return what must hold of the truth values that translations since the last call have made."""
        while self._undefined:  # a definition may make more truth values
            self._define_literal(*self._undefined[0])
            self._undefined.popleft()  # only now, since a truth value must not stay without its definition
        definitions, self._definitions = self._definitions, []
        return definitions

    def _define_literal(self, name: str, number: int) -> None:
        literal, numbers = self.literals[name, number].term, self._numbers[name]
        meaning = self._integers[name].meaning
        if meaning is not None:
            self._definitions.append(literal == lift_truth(self._compare_sum(meaning, number)))
        place = bisect(numbers, number)
        if place > 0:
            self._definitions.append(z3.Implies(literal, self.literals[name, numbers[place - 1]].term))
        if place < len(numbers):
            self._definitions.append(z3.Implies(self.literals[name, numbers[place]].term, literal))
        numbers.insert(place, number)

    def list_numbers(self, name: str) -> list[int]:
        """List the numbers with which an integer has been compared, in ascending order."""
        return self._numbers[name]

    def translate_truth(self, term: Any) -> Any:
        """Translate a term whose sort is not Int: a Boolean or a bit-vector, with subterms of any sort."""
        key = term.get_id()
        if key not in self._truths:
            self._truths[key] = (term, self._translate_truth(term))
        return self._truths[key][1]

    def _translate_truth(self, term: Any) -> Any:
        children = term.children()
        if any(z3.is_int(child) for child in children):
            return lift_truth(self._translate_comparison(term.decl().kind(), children))
        return term.decl()(*(self.translate_truth(child) for child in children)) if children else term

    def _translate_comparison(self, kind: int, operands: Sequence[Any]) -> Truth:
        if len(operands) != 2:
            raise NoOrderEncoding
        left, right = operands
        match kind:
            case z3.Z3_OP_GE:
                return self._is_at_least(left, right)
            case z3.Z3_OP_LE:
                return self._is_at_least(right, left)
            case z3.Z3_OP_LT:
                return Not(self._is_at_least(left, right))
            case z3.Z3_OP_GT:
                return Not(self._is_at_least(right, left))
            case z3.Z3_OP_EQ:
                return And(self._is_at_least(left, right), self._is_at_least(right, left))
            case z3.Z3_OP_DISTINCT:
                return Not(And(self._is_at_least(left, right), self._is_at_least(right, left)))
            case _:
                raise NoOrderEncoding

    def _is_at_least(self, left: Any, right: Any) -> Truth:
        return self._compare_sum(self._read_sum(left - right), 0)

    def _compare_sum(self, total: IntegerSum, number: int) -> Truth:
        """Return whether a sum is at least a number."""
        if total.bounds.low >= number or total.bounds.high < number:
            return total.bounds.low >= number
        key = total.multiples, number - total.constant
        if key not in self._comparisons:
            self._comparisons[key] = self._split_comparison(*key)
        return self._comparisons[key]

    def _split_comparison(self, multiples: tuple[tuple[int, Summand], ...], number: int) -> Truth:
        (factor, summand), *others = multiples
        if not others:
            return self._compare_multiple(factor, summand, number)
        # a + b ≥ n if and only if, for every i, a ≥ i or b ≥ n - i + 1.  It suffices to look at those i for which
        # neither of the two is known; and at one more on each side, if one of them is known to be false there.
        rest = IntegerSum(tuple(others))
        first = summand.bounds.scale(factor)
        low, high = max(first.low + 1, number - rest.bounds.high), min(first.high + 1, number - rest.bounds.low)
        if not (isfinite(low) and isfinite(high) and high - low < _MOST_NUMBERS):
            raise NoOrderEncoding
        return And(
            *(
                Or(self._compare_multiple(factor, summand, i), self._compare_sum(rest, number - i + 1))
                for i in range(int(low), int(high) + 1)
            )
        )

    def _compare_multiple(self, factor: int, summand: Summand, number: int) -> Truth:
        """Return whether a multiple of a summand is at least a number."""
        if factor > 0:
            return self._compare_summand(summand, -(-number // factor))
        return Not(self._compare_summand(summand, number // factor + 1))

    def _compare_summand(self, summand: Summand, number: int) -> Truth:
        if summand.bounds.low >= number or summand.bounds.high < number:
            return summand.bounds.low >= number
        match summand:
            case NamedInteger(name):
                return self._make_literal(name, number)
            case IntegerQuotient(dividend, divisor):
                return self._compare_sum(dividend, number * divisor)
            case ChosenInteger(condition):
                then = self._compare_sum(summand.then, number)
                otherwise = self._compare_sum(summand.otherwise, number)
                if isinstance(then, bool) or isinstance(otherwise, bool):
                    return And(Or(Not(condition), then), Or(condition, otherwise))
                return If(condition, then, otherwise)

    def _make_literal(self, name: str, number: int) -> Bool:
        if (name, number) not in self.literals:
            self.literals[name, number] = Bool(z3.FreshBool("at_least"))
            self._undefined.append((name, number))
        return self.literals[name, number]

    def _read_sum(self, term: Any) -> IntegerSum:
        key = term.get_id()
        if key not in self._sums:
            self._sums[key] = (term, self._split_sum(term))
        return self._sums[key][1]

    def _split_sum(self, term: Any) -> IntegerSum:
        factors: dict[Summand, int] = {}
        constant = 0
        waiting: list[tuple[int, Any]] = [(1, term)]
        while waiting:
            factor, part = waiting.pop()
            operands = part.children()
            match part.decl().kind():
                case z3.Z3_OP_ANUM:
                    constant += factor * part.as_long()
                case z3.Z3_OP_ADD:
                    waiting += [(factor, operand) for operand in operands]
                case z3.Z3_OP_SUB:
                    waiting += [(factor, operands[0]), *((-factor, operand) for operand in operands[1:])]
                case z3.Z3_OP_UMINUS:
                    waiting.append((-factor, operands[0]))
                case z3.Z3_OP_MUL:
                    waiting.append(_split_product(factor, operands))
                case _:
                    summand = self._read_summand(part)
                    factors[summand] = factors.get(summand, 0) + factor
        return IntegerSum(tuple((factor, summand) for summand, factor in factors.items() if factor != 0), constant)

    def _read_summand(self, term: Any) -> Summand:
        if _is_constant(term):
            name = term.decl().name()
            if name not in self._integers:
                raise NoOrderEncoding  # an integer without a definition
            return self._integers[name]
        key = term.get_id()
        if key not in self._summands:
            self._summands[key] = (term, self._build_summand(term))
        return self._summands[key][1]

    def _build_summand(self, term: Any) -> Summand:
        kind, operands = term.decl().kind(), term.children()
        if kind == z3.Z3_OP_ITE:
            then, otherwise = self._read_sum(operands[1]), self._read_sum(operands[2])
            return ChosenInteger(Bool(self.translate_truth(operands[0])), then, otherwise)
        if kind == z3.Z3_OP_IDIV and z3.is_int_value(operands[1]) and operands[1].as_long() > 0:
            return IntegerQuotient(self._read_sum(operands[0]), operands[1].as_long())
        raise NoOrderEncoding


def _is_constant(term: Any) -> bool:
    return bool(z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def _split_product(factor: int, operands: Sequence[Any]) -> tuple[int, Any]:
    """Return the product of the numbers among the factors, and the one factor that is not a number."""
    others = [operand for operand in operands if not z3.is_int_value(operand)]
    if len(others) > 1:
        raise NoOrderEncoding
    numbers = (operand.as_long() for operand in operands if z3.is_int_value(operand))
    return prod(numbers, start=factor), others[0] if others else z3.IntVal(1)
