"""The evaluation of Z3 terms, and of what they claim about ages, in many states at once, with numpy.

A term is traversed once, whatever the number of states: substituting state by state would take seconds.  Integers are
machine integers while a bound on every intermediate value shows that they fit, and Python's integers otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import z3
from numpy.typing import NDArray

from fdverify.errors import InternalError
from fdverify.logic import Number, Truth
from fdverify.symbolic.age_claims import AgeClaim, AgeClaimRegistry, AgeRead, Mention

Column = NDArray[Any]
_FITS = 1 << 62
_EVALUATED = (z3.Z3_APP_AST, z3.Z3_NUMERAL_AST)
_MACHINE_BITS = 31
"""A bit vector up to this width stays a machine integer when it is shifted."""


class RecordingBook(AgeClaimRegistry):
    """An age book that keeps every read and every claim, also those made inside another claim."""

    def __init__(self) -> None:
        super().__init__()
        self.claims: dict[str, tuple[AgeClaim, int]] = {}
        """By the name of the truth value: the claim, and the depth of the age that its body ranges over."""
        self.exceptions: dict[str, str] = {}
        """By the name of the age at which a claim fails: the name of its truth value."""
        self.reads: dict[str, AgeRead] = {}

    def make_claim(self, delta: Number, low: Number, high: Number, body: Callable[[Number], Truth]) -> AgeClaim:
        claim = super().make_claim(delta, low, high, body)
        name = claim.holds.term.decl().name()
        self.claims.setdefault(name, (claim, self.depth + 1))
        self.exceptions[claim.exception.term.decl().name()] = name
        return claim

    def record_mention(self, mention: Mention) -> None:
        if isinstance(mention, AgeRead):
            self.reads[mention.constant.term.decl().name()] = mention
        super().record_mention(mention)


class _BoundedColumn(NamedTuple):
    """A value in every state, with an upper bound on its magnitude (0 for truth values)."""

    column: Column
    most: int = 0


class TermEvaluator:
    """Evaluates terms over named constants, functions and predicates over ages, in each of many states.

    Inside a claim about all ages, columns have one more axis: the ages.  Functions are not evaluated there.
    """

    def __init__(
        self,
        size: int,
        columns: Mapping[str, Column],
        members: Mapping[str, Column],
        ages: int,
        book: RecordingBook,
        outer: TermEvaluator | None = None,
        functions: Mapping[str, Callable[..., Column]] | None = None,
    ) -> None:
        self._size = size
        self._columns = columns
        self._members = members
        self._ages = ages
        self._book = book
        self._outer = outer
        self._functions = functions or {}
        self._depth: int = 0 if outer is None else outer._depth + 1
        self._known: dict[int, _BoundedColumn] = {}
        self._kept: list[Any] = []
        self._inner: TermEvaluator | None = None
        self._claims: dict[str, tuple[Column, Column]] = {}

    def evaluate(self, term: Any) -> Column:
        """Evaluate a term in every state."""
        return np.broadcast_to(self._evaluate_term(term).column, (self._size,))

    def _evaluate_term(self, term: Any) -> _BoundedColumn:
        self._kept.append(term)  # Z3 reuses the identity of a freed term
        context = term.ctx.ref()
        known, identify = self._known, z3.Z3_get_ast_id
        root = identify(context, term.as_ast())
        waiting: list[tuple[Any, int, list[int] | None]] = [(term.as_ast(), root, None)]
        while waiting:
            ast, identity, numbers = waiting.pop()
            if identity in known:
                continue
            if numbers is None:
                if z3.Z3_get_ast_kind(context, ast) not in _EVALUATED:
                    raise InternalError("a term with a quantifier cannot be evaluated")
                parts = [z3.Z3_get_app_arg(context, ast, k) for k in range(z3.Z3_get_app_num_args(context, ast))]
                numbers = [identify(context, part) for part in parts]
                new = [(part, n, None) for part, n in zip(parts, numbers, strict=True) if n not in known]
                if new:
                    waiting.append((ast, identity, numbers))
                    waiting += new
                    continue
            value = self._apply_operation(context, ast, [known[n] for n in numbers])
            # Operations of numpy on single Python integers do not return arrays.
            known[identity] = _BoundedColumn(np.asarray(value.column), value.most)
        return known[root]

    def _apply_operation(self, context: Any, ast: Any, parts: list[_BoundedColumn]) -> _BoundedColumn:
        declaration = z3.Z3_get_app_decl(context, ast)
        kind = z3.Z3_get_decl_kind(context, declaration)
        if kind == z3.Z3_OP_UNINTERPRETED:
            name = z3.Z3_get_symbol_string(context, z3.Z3_get_decl_name(context, declaration))
            if name in self._functions:
                return _measure_column(self._functions[name](*(part.column for part in parts)))
            return self._apply_predicate(name, parts[0].column) if parts else self._evaluate_constant(name)
        if kind in (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM):
            return _build_number(int(z3.Z3_get_numeral_string(context, ast)))
        if kind in _OPERATIONS:
            return _OPERATIONS[kind](parts)
        if kind in (z3.Z3_OP_BNOT, z3.Z3_OP_BSHL):
            width = z3.Z3_get_bv_sort_size(context, z3.Z3_get_sort(context, ast))
            return (_invert_bits if kind == z3.Z3_OP_BNOT else _shift_bits)(parts, width)
        raise InternalError(f"a term of kind {kind} cannot be evaluated")

    def _apply_predicate(self, name: str, age: Column) -> _BoundedColumn:
        """Apply a predicate over ages: test in each state whether the age is a member."""
        members = self._find_members(name)
        size, width = members.shape
        states = np.arange(size).reshape((size, *(1 for _ in range(self._depth))))
        there = (age >= 0) & (age < width)
        place = np.where(there, age, 0).astype(np.int64)
        return _BoundedColumn(there & members[states, place])

    def _find_members(self, name: str) -> Column:
        return self._members[name] if self._outer is None else self._outer._find_members(name)

    def _evaluate_constant(self, name: str) -> _BoundedColumn:
        """Evaluate a constant: the age of a claim, one with a column, or one that the book defines."""
        if self._outer is not None:
            if name == f"age!{self._depth}":
                return _BoundedColumn(np.arange(self._ages), self._ages)
            if self._is_outer(name):
                value = self._outer._evaluate_constant(name)
                return _BoundedColumn(
                    np.expand_dims(value.column, -1) if value.column.ndim else value.column, value.most
                )
        if name in self._columns:
            return _measure_column(self._columns[name])
        if name in self._book.reads:
            return self._evaluate_term(self._book.define_read(self._book.reads[name]).term.arg(1))
        if name in self._book.claims:
            inside, body = self._evaluate_claim(name)
            return _BoundedColumn(np.asarray((~inside | body).all(axis=-1)))
        if name in self._book.exceptions:
            inside, body = self._evaluate_claim(self._book.exceptions[name])
            return _BoundedColumn(np.argmax(inside & ~body, axis=-1), self._ages)
        raise InternalError(f"{name} has no value in the states to compare")

    def _is_outer(self, name: str) -> bool:
        """Tell whether a constant has the same value for every age of the innermost claim."""
        claim = self._book.exceptions.get(name, name)
        if claim in self._book.claims:
            return self._book.claims[claim][1] <= self._depth
        return name not in self._book.reads

    def _evaluate_claim(self, name: str) -> tuple[Column, Column]:
        """Evaluate for each age whether a claim is about it and whether its body holds; ages are the last axis."""
        if name not in self._claims:
            claim, depth = self._book.claims[name]
            if depth != self._depth + 1:
                raise InternalError("a nested claim is evaluated outside of the claim around it")
            if self._inner is None:
                self._inner = TermEvaluator(self._size, self._columns, self._members, self._ages, self._book, self)
            shape = (self._size, *(self._ages for _ in range(depth)))
            inside, body = (self._inner._evaluate_term(claim.shape.arg(place)).column for place in (0, 1))
            self._claims[name] = (np.broadcast_to(inside, shape), np.broadcast_to(body, shape))
        return self._claims[name]


def _build_number(value: int) -> _BoundedColumn:
    wide = value.bit_length() > _MACHINE_BITS * 2
    return _BoundedColumn(np.array(value, dtype=object if wide else np.int64), abs(value))


def _measure_column(column: Column) -> _BoundedColumn:
    if column.dtype == bool or column.size == 0:
        return _BoundedColumn(column)
    return _BoundedColumn(column, max(abs(int(column.min())), abs(int(column.max()))))


def _widen_columns(parts: Sequence[_BoundedColumn], most: int) -> list[Column]:
    """Return the columns, as Python's integers if machine integers may not hold the result."""
    wide = most >= _FITS or any(part.most >= _FITS for part in parts)
    return [part.column.astype(object) if wide else part.column for part in parts]


def _add_columns(parts: list[_BoundedColumn]) -> _BoundedColumn:
    most = sum(part.most for part in parts)
    return _BoundedColumn(reduce(np.add, _widen_columns(parts, most)), most)


def _subtract_columns(parts: list[_BoundedColumn]) -> _BoundedColumn:
    most = sum(part.most for part in parts)
    return _BoundedColumn(reduce(np.subtract, _widen_columns(parts, most)), most)


def _multiply_columns(parts: list[_BoundedColumn]) -> _BoundedColumn:
    most = reduce(lambda size, part: size * part.most, parts, 1)
    return _BoundedColumn(reduce(np.multiply, _widen_columns(parts, most)), most)


def _build_division(operation: Callable[[Any, Any], Any]) -> Callable[[list[_BoundedColumn]], _BoundedColumn]:
    def divide_columns(parts: list[_BoundedColumn]) -> _BoundedColumn:
        dividend, divisor = _widen_columns(parts, 0)
        if not (divisor > 0).all():
            raise InternalError("division by a number that is not positive cannot be evaluated")
        # For a positive divisor, the floor division of numpy and the Euclidean division of Z3 agree.
        return _BoundedColumn(operation(dividend, divisor), max(part.most for part in parts))

    return divide_columns


def _choose_column(parts: list[_BoundedColumn]) -> _BoundedColumn:
    condition, then, otherwise = parts
    most = max(then.most, otherwise.most)
    return _BoundedColumn(np.where(condition.column, *_widen_columns((then, otherwise), most)), most)


def _test_distinct(parts: list[_BoundedColumn]) -> _BoundedColumn:
    pairs = [(a, b) for k, a in enumerate(parts) for b in parts[k + 1 :]]
    return _BoundedColumn(reduce(np.logical_and, [np.not_equal(*_widen_columns(pair, 0)) for pair in pairs]))


def _build_comparison(operation: Callable[[Any, Any], Any]) -> Callable[[list[_BoundedColumn]], _BoundedColumn]:
    return lambda parts: _BoundedColumn(operation(*_widen_columns(parts, 0)))


def _build_connective(operation: Any) -> Callable[[list[_BoundedColumn]], _BoundedColumn]:
    return lambda parts: _BoundedColumn(reduce(operation, [part.column for part in parts]))


def _build_bitwise(operation: Any) -> Callable[[list[_BoundedColumn]], _BoundedColumn]:
    return lambda parts: _BoundedColumn(
        reduce(operation, _widen_columns(parts, 0)), reduce(lambda a, b: a | b.most, parts, 0)
    )


def _invert_bits(parts: list[_BoundedColumn], width: int) -> _BoundedColumn:
    most = (1 << width) - 1
    (bits,) = _widen_columns(parts, most)
    return _BoundedColumn(most ^ bits, most)


def _shift_bits(parts: list[_BoundedColumn], width: int) -> _BoundedColumn:
    most = (1 << width) - 1
    bits, by = (part.column.astype(object if width > _MACHINE_BITS else np.int64) for part in parts)
    return _BoundedColumn(np.where(by < width, (bits << np.where(by < width, by, 0)) & most, 0), most)


_OPERATIONS: dict[int, Callable[[list[_BoundedColumn]], _BoundedColumn]] = {
    z3.Z3_OP_TRUE: lambda parts: _BoundedColumn(np.array(True)),
    z3.Z3_OP_FALSE: lambda parts: _BoundedColumn(np.array(False)),
    z3.Z3_OP_AND: _build_connective(np.logical_and),
    z3.Z3_OP_OR: _build_connective(np.logical_or),
    z3.Z3_OP_XOR: _build_connective(np.logical_xor),
    z3.Z3_OP_NOT: lambda parts: _BoundedColumn(np.logical_not(parts[0].column)),
    z3.Z3_OP_IMPLIES: lambda parts: _BoundedColumn(np.logical_or(~parts[0].column, parts[1].column)),
    z3.Z3_OP_IFF: _build_comparison(np.equal),
    z3.Z3_OP_EQ: _build_comparison(np.equal),
    z3.Z3_OP_DISTINCT: _test_distinct,
    z3.Z3_OP_ITE: _choose_column,
    z3.Z3_OP_ADD: _add_columns,
    z3.Z3_OP_SUB: _subtract_columns,
    z3.Z3_OP_UMINUS: lambda parts: _BoundedColumn(-_widen_columns(parts, parts[0].most)[0], parts[0].most),
    z3.Z3_OP_MUL: _multiply_columns,
    z3.Z3_OP_IDIV: _build_division(np.floor_divide),
    z3.Z3_OP_MOD: _build_division(np.mod),
    z3.Z3_OP_LE: _build_comparison(np.less_equal),
    z3.Z3_OP_LT: _build_comparison(np.less),
    z3.Z3_OP_GE: _build_comparison(np.greater_equal),
    z3.Z3_OP_GT: _build_comparison(np.greater),
    z3.Z3_OP_BAND: _build_bitwise(np.bitwise_and),
    z3.Z3_OP_BOR: _build_bitwise(np.bitwise_or),
}
