"""Translation of integer terms to bit-vectors (bit-blasting), where every integer is bounded by construction.

With all parameters fixed, each integer of a run from the initial state is defined by a term over earlier integers, or
chosen between two such terms, so an interval for its value is known.  A bit-vector of matching width represents it
without overflow.  A SAT solver then decides in a second what takes linear arithmetic a minute.  An integer that neither
is defined nor has two bounds is refused, never guessed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import z3

from fdverify.errors import InternalError

_COMPARISONS: dict[int, Callable[[Any, Any], Any]] = {
    z3.Z3_OP_LE: operator.le,
    z3.Z3_OP_LT: operator.lt,
    z3.Z3_OP_GE: operator.ge,
    z3.Z3_OP_GT: operator.gt,
    z3.Z3_OP_EQ: operator.eq,
    z3.Z3_OP_DISTINCT: operator.ne,
}


@dataclass(frozen=True)
class BoundedBitvector:
    """A signed bit-vector term with an interval that contains its value."""

    bits: Any
    low: int
    high: int

    def sign_extend(self, width: int) -> Any:
        return z3.SignExt(width - self.bits.size(), self.bits)


class BitvectorTranslator:
    """Translates terms over bounded integers to bit-vectors, and remembers the constants that were defined."""

    def __init__(self) -> None:
        self._constants: dict[str, BoundedBitvector] = {}
        self.widest = 0
        # Keyed by term identity.  The term is kept alive beside its translation, so that Z3 cannot reuse the identity.
        self._done: dict[int, tuple[Any, Any]] = {}

    def translate_fact(self, term: Any) -> Any:
        """Translate a fact.

        An equation ``constant == term`` with a new integer constant also defines the constant.  So does a conjunction
        ``low <= constant and constant <= high``, which gives the interval of a constant that is chosen.
        """
        if z3.is_eq(term) and z3.is_int(term.arg(0)):
            # Z3 may swap the sides of ``constant == literal``, so the constant can be on either side.
            for constant, meaning in (term.children(), reversed(term.children())):
                if self._is_new(constant):
                    self._define_constant(constant.decl().name(), self.translate_integer(meaning))
                    break
        elif (bounds := _match_bounds(term)) is not None and self._is_new(bounds[1]):
            low, constant, high = bounds
            ends = self.translate_integer(low), self.translate_integer(high)
            least, most = (pick(each.low, each.high) for pick, each in zip((min, max), ends, strict=True))
            self._define_interval(constant.decl().name(), least, max(least, most))
        return self.translate_non_integer(term)

    def _is_new(self, term: Any) -> bool:
        is_symbol = z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED
        return is_symbol and term.decl().name() not in self._constants

    def _define_constant(self, name: str, meaning: BoundedBitvector) -> None:
        self._constants[name] = BoundedBitvector(z3.BitVec(name, meaning.bits.size()), meaning.low, meaning.high)

    def _define_interval(self, name: str, low: int, high: int) -> None:
        # More bits than needed are harmless: the fact itself limits the value to the interval.
        self._constants[name] = BoundedBitvector(z3.BitVec(name, _compute_width(low, high)), low, high)

    def translate_non_integer(self, term: Any) -> Any:
        """Translate a term whose sort is not Int: a Boolean or a bit-vector, with subterms of any sort."""
        return self._translate_once(term, self._translate_non_integer)

    def translate_integer(self, term: Any) -> BoundedBitvector:
        word: BoundedBitvector = self._translate_once(term, self._translate_integer)
        self.widest = max(self.widest, word.bits.size())
        return word

    def _translate_once(self, term: Any, translate: Callable[[Any], Any]) -> Any:
        key = term.get_id()
        if key not in self._done:
            self._done[key] = (term, translate(term))
        return self._done[key][1]

    def _translate_non_integer(self, term: Any) -> Any:
        children = term.children()
        if any(z3.is_int(child) for child in children):
            return self._translate_comparison(term)
        if not children:
            return term
        return term.decl()(*(self.translate_non_integer(child) for child in children))

    def _translate_comparison(self, term: Any) -> Any:
        if term.decl().kind() not in _COMPARISONS or term.num_args() != 2:
            raise InternalError(f"no bit-vector comparison for {term.decl().name()}")
        left, right = (self.translate_integer(child) for child in term.children())
        width = max(left.bits.size(), right.bits.size())
        a, b = left.sign_extend(width), right.sign_extend(width)
        return _COMPARISONS[term.decl().kind()](a, b)

    def _translate_integer(self, term: Any) -> BoundedBitvector:
        if z3.is_int_value(term):
            value = term.as_long()
            return BoundedBitvector(z3.BitVecVal(value, _compute_width(value, value)), value, value)
        kind = term.decl().kind()
        if kind == z3.Z3_OP_UNINTERPRETED and term.num_args() == 0:
            name = term.decl().name()
            if name not in self._constants:
                raise InternalError(f"integer {name} is used before it is defined")
            return self._constants[name]
        if kind == z3.Z3_OP_ITE:
            condition = self.translate_non_integer(term.arg(0))
            then, otherwise = self.translate_integer(term.arg(1)), self.translate_integer(term.arg(2))
            low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
            width = _compute_width(low, high)
            return BoundedBitvector(z3.If(condition, _fit_width(then, width), _fit_width(otherwise, width)), low, high)
        if kind == z3.Z3_OP_UNINTERPRETED:
            raise InternalError(f"no bit-vector for the function {term.decl().name()}")
        words = [self.translate_integer(child) for child in term.children()]
        if kind == z3.Z3_OP_UMINUS:
            words, kind = [BoundedBitvector(z3.BitVecVal(0, 1), 0, 0), *words], z3.Z3_OP_SUB
        if kind in (z3.Z3_OP_IDIV, z3.Z3_OP_MOD):
            if not z3.is_int_value(term.arg(1)) or words[1].low < 1:
                raise InternalError(f"no bit-vector division by {term.arg(1)}")
            return _divide_bitvector(words[0], words[1].low, kind)
        result = words[0]
        for operand in words[1:]:
            result = _combine_operands(result, operand, kind)
        return result


def _match_bounds(term: Any) -> tuple[Any, Any, Any] | None:
    """Match ``low <= constant and constant <= high``, and return the three terms."""
    if not z3.is_and(term) or term.num_args() != 2:
        return None
    below, above = (_order_operands(each) for each in term.children())
    if below is None or above is None or not below[1].eq(above[0]):
        return None
    return below[0], below[1], above[1]


def _order_operands(term: Any) -> tuple[Any, Any] | None:
    """Return the operands of a comparison of integers, the one first that is at most the other."""
    if not (z3.is_le(term) or z3.is_ge(term)) or not z3.is_int(term.arg(0)):
        return None
    left, right = term.children()
    return (left, right) if z3.is_le(term) else (right, left)


def _combine_operands(left: BoundedBitvector, right: BoundedBitvector, kind: int) -> BoundedBitvector:
    match kind:
        case z3.Z3_OP_ADD:
            low, high = left.low + right.low, left.high + right.high
        case z3.Z3_OP_SUB:
            low, high = left.low - right.high, left.high - right.low
        case z3.Z3_OP_MUL:
            corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            low, high = min(corners), max(corners)
        case _:
            raise InternalError(f"no bit-vector operation of kind {kind}")
    width = max(_compute_width(low, high), left.bits.size(), right.bits.size())
    a, b = left.sign_extend(width), right.sign_extend(width)
    bits = {z3.Z3_OP_ADD: a + b, z3.Z3_OP_SUB: a - b, z3.Z3_OP_MUL: a * b}[kind]
    return _narrow_bitvector(bits, low, high)


def _divide_bitvector(dividend: BoundedBitvector, divisor: int, kind: int) -> BoundedBitvector:
    """Divide by a positive literal, rounding down.

    Unsigned bit-vector division does the same on non-negative values, so a multiple of the divisor is added first.
    """
    shift = max(0, -(dividend.low // divisor))
    raised = dividend.high + shift * divisor
    width = max(_compute_width(0, max(raised, divisor)), dividend.bits.size())
    bits = dividend.sign_extend(width) + shift * divisor
    if kind == z3.Z3_OP_MOD:
        return _narrow_bitvector(z3.URem(bits, divisor), 0, divisor - 1)
    return _narrow_bitvector(z3.UDiv(bits, divisor) - shift, dividend.low // divisor, dividend.high // divisor)


def _narrow_bitvector(bits: Any, low: int, high: int) -> BoundedBitvector:
    width = _compute_width(low, high)
    return BoundedBitvector(z3.Extract(width - 1, 0, bits) if width < bits.size() else bits, low, high)


def _fit_width(word: BoundedBitvector, width: int) -> Any:
    """Resize the bits of a branch.  ``width`` fits an interval that contains the branch's own, so nothing is lost."""
    return word.sign_extend(width) if width >= word.bits.size() else z3.Extract(width - 1, 0, word.bits)


def _compute_width(low: int, high: int) -> int:
    """Return how many bits a signed bit-vector needs for every value from ``low`` to ``high``."""
    return 1 + max(high.bit_length() if high >= 0 else 0, (-low - 1).bit_length() if low < 0 else 0)
