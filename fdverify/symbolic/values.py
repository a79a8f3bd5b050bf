"""Symbolic values: small typed classes over Z3 terms.

They exist because Z3's own terms silently give ``a == b`` a truth value when Python asks for one, and because ``//``
and ``%`` mean different things in Python (floor) and in Z3 (Euclid) unless the divisor is a positive literal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, ClassVar

import z3

from fdverify.logic import Symbolic, raise_misuse, shorten_value
from fdverify.runs.layout import compute_label_width


class Value(Symbolic):
    """A Z3 term of one kind: a truth value, an integer or a bit vector."""

    __slots__ = ("term",)

    def __init__(self, term: Any) -> None:
        self.term = term

    def conjunction(self, operands: Sequence[Any]) -> Bool:
        return _connect_terms(z3.Z3_mk_and, operands)

    def disjunction(self, operands: Sequence[Any]) -> Bool:
        return _connect_terms(z3.Z3_mk_or, operands)

    def negation(self) -> Bool:
        return Bool(_apply_constructor(z3.Z3_mk_not, z3.BoolRef, lift_truth(self)))

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Value:
        sample = next((x for x in (then, otherwise) if isinstance(x, Value)), None)
        sample = build_literal(then) if sample is None else sample
        return type(sample)(z3.If(lift_truth(condition), sample.lift(then), sample.lift(otherwise)))

    def lift(self, value: Any) -> Any:
        """Return the Z3 term of ``value``, which is of this kind or a Python value that stands for one."""
        raise AssertionError("each kind of value lifts its own")

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        return Bool(_apply_constructor(z3.Z3_mk_eq, z3.BoolRef, self.term, self.lift(other)))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return Bool(self.term != self.lift(other))

    __hash__ = Symbolic.__hash__

    def __repr__(self) -> str:
        return str(self.term)


# Z3's Python operators look for coercions before they build a term.  Here the kinds are known, and building is most of
# the work of a proof, so the terms are built directly.


def _apply_constructor(make: Callable[..., Any], kind: type, *terms: Any) -> Any:
    """Apply a Z3 constructor to a fixed number of terms."""
    context = terms[0].ctx
    return kind(make(context.ref(), *(term.ast for term in terms)), context)


def _apply_to_list(make: Callable[..., Any], kind: type, terms: Sequence[Any]) -> Any:
    """Apply a Z3 constructor to a list of terms."""
    context = terms[0].ctx
    return kind(make(context.ref(), len(terms), (z3.Ast * len(terms))(*(term.ast for term in terms))), context)


def apply_predicate(function: z3.FuncDeclRef, argument: Any) -> Bool:
    """Apply a predicate of one argument, which is of the right sort."""
    context = function.ctx
    term = z3.Z3_mk_app(context.ref(), function.ast, 1, (z3.Ast * 1)(argument.ast))
    return Bool(z3.BoolRef(term, context))


def _connect_terms(make: Callable[..., Any], operands: Sequence[Any]) -> Bool:
    return Bool(_apply_to_list(make, z3.BoolRef, [lift_truth(operand) for operand in operands]))


class Bool(Value):
    __slots__ = ()
    boolean: ClassVar[bool] = True

    def lift(self, value: Any) -> Any:
        return lift_truth(value)


class Int(Value):
    __slots__ = ()

    def lift(self, value: Any) -> Any:
        if isinstance(value, Int):
            return value.term
        if isinstance(value, int) and not isinstance(value, bool):
            return z3.IntVal(int(value))
        raise_misuse(f"expected an integer, got {shorten_value(value)}", "use If(condition, 1, 0) to count a condition")

    @staticmethod
    def _build_from(make: Callable[..., Any], *terms: Any) -> Int:
        return Int(_apply_to_list(make, z3.ArithRef, terms))

    def __add__(self, other: Any) -> Int:
        return self._build_from(z3.Z3_mk_add, self.term, self.lift(other))

    def __radd__(self, other: Any) -> Int:
        return self._build_from(z3.Z3_mk_add, self.lift(other), self.term)

    def __sub__(self, other: Any) -> Int:
        return self._build_from(z3.Z3_mk_sub, self.term, self.lift(other))

    def __rsub__(self, other: Any) -> Int:
        return self._build_from(z3.Z3_mk_sub, self.lift(other), self.term)

    def __mul__(self, other: Any) -> Int:
        return self._build_from(z3.Z3_mk_mul, self.term, self.lift(other))

    def __rmul__(self, other: Any) -> Int:
        return self._build_from(z3.Z3_mk_mul, self.lift(other), self.term)

    def __neg__(self) -> Int:
        return Int(-self.term)

    def __floordiv__(self, divisor: Any) -> Int:
        return self._divide_by(divisor, lambda a, b: a / b)

    def __mod__(self, divisor: Any) -> Int:
        return self._divide_by(divisor, lambda a, b: a % b)

    def _divide_by(self, divisor: Any, operation: Callable[[Any, Any], Any]) -> Int:
        if type(divisor) is not int or divisor < 1:
            raise_misuse("// and % of a symbolic value need a positive literal", "multiply the other side instead")
        return Int(operation(self.term, z3.IntVal(divisor)))

    def __lt__(self, other: Any) -> Bool:
        return Bool(_apply_constructor(z3.Z3_mk_lt, z3.BoolRef, self.term, self.lift(other)))

    def __le__(self, other: Any) -> Bool:
        return Bool(_apply_constructor(z3.Z3_mk_le, z3.BoolRef, self.term, self.lift(other)))

    def __gt__(self, other: Any) -> Bool:
        return Bool(_apply_constructor(z3.Z3_mk_gt, z3.BoolRef, self.term, self.lift(other)))

    def __ge__(self, other: Any) -> Bool:
        return Bool(_apply_constructor(z3.Z3_mk_ge, z3.BoolRef, self.term, self.lift(other)))


class Bits(Value):
    """A bit vector, for labels and sets of small numbers; it has no order and no arithmetic."""

    __slots__ = ()

    def lift(self, value: Any) -> Any:
        if isinstance(value, Bits):
            return value.term
        # A number that does not fit must not be truncated to another one.
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << self.term.size():
            raise_misuse(
                f"{shorten_value(value)} is not a value of {self.term.size()} bits", "use the members of the enum"
            )
        return z3.BitVecVal(int(value), self.term.size())

    def __and__(self, other: Any) -> Bits:
        return Bits(self.term & self.lift(other))

    def __or__(self, other: Any) -> Bits:
        return Bits(self.term | self.lift(other))

    def __invert__(self) -> Bits:
        return Bits(~self.term)

    def __lshift__(self, by: int) -> Bits:
        return Bits(self.term << by)


def build_literal(value: bool | int) -> Value:
    """Convert a Python value to a symbolic one; a label becomes a bit vector wide enough for all labels of its enum."""
    match value:
        case bool():
            return Bool(z3.BoolVal(value))
        case IntEnum():
            return Bits(z3.BitVecVal(value, compute_label_width(type(value))))
        case _:
            return Int(z3.IntVal(value))


def lift_truth(value: Any) -> Any:
    """Return the Z3 term of a truth value; Z3 would accept an integer and exclude the states where it is not one."""
    if isinstance(value, bool):
        return z3.BoolVal(value)
    if not isinstance(value, Bool):
        raise_misuse(f"expected a truth value, got {shorten_value(value)}", "compare numbers: x > 0, x == 1")
    return value.term
