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
from math import inf, isfinite
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


Multiple: TypeAlias = tuple[int, Any]
"""A factor other than 0, and a term that is not a sum: a constant, a choice between two terms, or a quotient."""
Sum: TypeAlias = tuple[Sequence[Multiple], int]
"""Multiples, and a number, which are added up."""


class OrderTranslator:
    """Translates terms over integers that are parameters, with their least values, or defined by a fact."""

    def __init__(self, least: Mapping[str, int]) -> None:
        self._intervals = {name: Interval(value, inf) for name, value in least.items()}
        self._meanings: dict[str, Any] = {}
        self._numbers: dict[str, list[int]] = {name: [] for name in least}
        self._undefined: deque[tuple[str, int]] = deque()
        self._definitions: list[Any] = []
        self.literals: dict[tuple[str, int], Bool] = {}
        """For the name of an integer and a number: the truth value "the integer is at least this number"."""
        # Keyed by term identity.  The term is kept alive beside its translation, so that Z3 cannot reuse the identity.
        self._truths: dict[int, tuple[Any, Any]] = {}
        self._sums: dict[int, tuple[Any, Sum]] = {}
        self._bounds: dict[int, tuple[Any, Interval]] = {}
        self._comparisons: dict[tuple[tuple[tuple[int, int], ...], int], tuple[Sequence[Multiple], Truth]] = {}

    def translate_fact(self, term: Any) -> Any:
        """Translate a fact.  An equation ``constant == term`` with a new integer constant only defines the constant."""
        if z3.is_eq(term) and z3.is_int(term.arg(0)):
            # Z3 may swap the sides of ``constant == literal``, so the constant can be on either side.
            for constant, meaning in (term.children(), reversed(term.children())):
                if _is_constant(constant) and constant.decl().name() not in self._intervals:
                    self._define_constant(constant.decl().name(), meaning)
                    return z3.BoolVal(True)
        return self.translate_truth(term)

    def take_definitions(self) -> list[Any]:
        """Return what must hold of the truth values that translations since the last call have made."""
        while self._undefined:  # a definition may make more truth values
            self._define_literal(*self._undefined[0])
            self._undefined.popleft()  # only now, since a truth value must not stay without its definition
        definitions, self._definitions = self._definitions, []
        return definitions

    def _define_literal(self, name: str, number: int) -> None:
        literal, numbers = self.literals[name, number].term, self._numbers[name]
        if name in self._meanings:
            meaning = self._compare_sum(self._split_term(self._meanings[name]), number)
            self._definitions.append(literal == lift_truth(meaning))
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
        return self._compare_sum(self._split_term(left - right), 0)

    def _define_constant(self, name: str, meaning: Any) -> None:
        self._intervals[name] = self._bound_value(meaning)
        self._meanings[name] = meaning
        self._numbers[name] = []

    def _bound_value(self, term: Any) -> Interval:
        multiples, constant = self._split_term(term)
        return self._bound_sum(multiples) + Interval(constant, constant)

    def _bound_sum(self, multiples: Sequence[Multiple]) -> Interval:
        return sum((self._bound_term(term).scale(factor) for factor, term in multiples), Interval(0, 0))

    def _bound_term(self, term: Any) -> Interval:
        key = term.get_id()
        if key not in self._bounds:
            self._bounds[key] = (term, self._compute_bounds(term))
        return self._bounds[key][1]

    def _compute_bounds(self, term: Any) -> Interval:
        if _is_constant(term):
            if term.decl().name() not in self._intervals:
                raise NoOrderEncoding  # an integer without a definition
            return self._intervals[term.decl().name()]
        if term.decl().kind() == z3.Z3_OP_IDIV:
            return self._bound_value(term.arg(0)).divide(term.arg(1).as_long())
        then, otherwise = self._bound_value(term.arg(1)), self._bound_value(term.arg(2))
        return Interval(min(then.low, otherwise.low), max(then.high, otherwise.high))

    def _split_term(self, term: Any) -> Sum:
        key = term.get_id()
        if key not in self._sums:
            self._sums[key] = (term, _split_sum(term))
        return self._sums[key][1]

    def _compare_sum(self, total: Sum, number: int) -> Truth:
        """Return whether a sum is at least a number."""
        multiples, constant = total
        key = tuple((factor, term.get_id()) for factor, term in multiples), number - constant
        if key not in self._comparisons:
            self._comparisons[key] = multiples, self._split_comparison(multiples, number - constant)
        return self._comparisons[key][1]

    def _split_comparison(self, multiples: Sequence[Multiple], number: int) -> Truth:
        bounds = self._bound_sum(multiples)
        if bounds.low >= number or bounds.high < number:
            return bounds.low >= number
        (factor, term), *others = multiples
        if not others:
            return self._compare_multiple(factor, term, number)
        # a + b ≥ n if and only if, for every i, a ≥ i or b ≥ n - i + 1.  It suffices to look at those i for which
        # neither of the two is known; and at one more on each side, if one of them is known to be false there.
        first, rest = self._bound_term(term).scale(factor), self._bound_sum(others)
        low, high = max(first.low + 1, number - rest.high), min(first.high + 1, number - rest.low)
        if not (isfinite(low) and isfinite(high) and high - low < _MOST_NUMBERS):
            raise NoOrderEncoding
        return And(
            *(
                Or(self._compare_multiple(factor, term, i), self._compare_sum((others, 0), number - i + 1))
                for i in range(int(low), int(high) + 1)
            )
        )

    def _compare_multiple(self, factor: int, term: Any, number: int) -> Truth:
        """Return whether a multiple of a term is at least a number."""
        if factor > 0:
            return self._compare_term(term, -(-number // factor))
        return Not(self._compare_term(term, number // factor + 1))

    def _compare_term(self, term: Any, number: int) -> Truth:
        bounds = self._bound_term(term)
        if bounds.low >= number or bounds.high < number:
            return bounds.low >= number
        if _is_constant(term):
            return self._make_literal(term.decl().name(), number)
        if term.decl().kind() == z3.Z3_OP_IDIV:
            return self._compare_sum(self._split_term(term.arg(0)), number * term.arg(1).as_long())
        condition = Bool(self.translate_truth(term.arg(0)))
        then, otherwise = (self._compare_sum(self._split_term(term.arg(place)), number) for place in (1, 2))
        if isinstance(then, bool) or isinstance(otherwise, bool):
            return And(Or(Not(condition), then), Or(condition, otherwise))
        return If(condition, then, otherwise)

    def _make_literal(self, name: str, number: int) -> Bool:
        if (name, number) not in self.literals:
            self.literals[name, number] = Bool(z3.FreshBool("at_least"))
            self._undefined.append((name, number))
        return self.literals[name, number]


def _is_constant(term: Any) -> bool:
    return bool(z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def _split_sum(term: Any) -> Sum:
    """Split a linear term into multiples of other terms, each of which occurs once, and a constant."""
    factors: dict[int, int] = {}
    terms: dict[int, Any] = {}
    constant = 0
    waiting: list[Multiple] = [(1, term)]
    while waiting:
        factor, part = waiting.pop()
        kind, operands = part.decl().kind(), part.children()
        if z3.is_int_value(part):
            constant += factor * part.as_long()
        elif kind == z3.Z3_OP_ADD:
            waiting += [(factor, operand) for operand in operands]
        elif kind == z3.Z3_OP_SUB:
            waiting += [(factor if place == 0 else -factor, operand) for place, operand in enumerate(operands)]
        elif kind == z3.Z3_OP_UMINUS:
            waiting.append((-factor, operands[0]))
        elif kind == z3.Z3_OP_MUL:
            waiting.append(_split_product(factor, operands))
        elif _is_constant(part) or kind == z3.Z3_OP_ITE or (kind == z3.Z3_OP_IDIV and _divides_by_literal(part)):
            terms[part.get_id()] = part
            factors[part.get_id()] = factors.get(part.get_id(), 0) + factor
        else:
            raise NoOrderEncoding
    return [(factor, terms[key]) for key, factor in factors.items() if factor != 0], constant


def _split_product(factor: int, operands: Sequence[Any]) -> Multiple:
    others = [operand for operand in operands if not z3.is_int_value(operand)]
    for operand in operands:
        if z3.is_int_value(operand):
            factor *= operand.as_long()
    if len(others) > 1:
        raise NoOrderEncoding
    return factor, others[0] if others else z3.IntVal(1)


def _divides_by_literal(quotient: Any) -> bool:
    return bool(z3.is_int_value(quotient.arg(1)) and quotient.arg(1).as_long() > 0)
