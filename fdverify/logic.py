"""Connectives that dispatch on the kind of their operands.

A model's phases and properties are written once, with these functions and Python's arithmetic.  They run on three kinds
of values: Python ``int`` and ``bool`` (one state), numpy arrays (a batch of states), and symbolic values (all states).
Neither numpy nor a solver is imported here: arrays are recognised by their protocol, and symbolic values derive from
:class:`Symbolic`.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from operator import and_, or_
from types import FrameType
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeAlias

from fdverify.errors import SourceLocation, UsageError

Truth: TypeAlias = Any
"""A ``bool``, an array of them, or a symbolic one."""

Number: TypeAlias = Any
"""An ``int``, an array of them, or a symbolic one."""


_LONGEST_SHOWN = 60


class Place(NamedTuple):
    """The place of a call in the source; ``at`` distinguishes two calls in one line."""

    file: str
    line: int
    at: int


_watch: ContextVar[Callable[[Place, Truth], None] | None] = ContextVar("watch", default=None)
_exact: ContextVar[bool] = ContextVar("exact", default=False)


class SymbolicMisuse(UsageError):
    """A symbolic value was used where Python needs a concrete one."""


_noticed: ContextVar[list[SymbolicMisuse] | None] = ContextVar("noticed", default=None)


class Symbolic:
    """A value that stands for many, so it has no truth value, no hash and no index.

    It is no abstract class of Python's: asking whether a value is an instance of one takes several times as long.
    """

    __slots__ = ()

    boolean: ClassVar[bool] = False

    def conjunction(self, operands: Sequence[Truth]) -> Truth:
        raise NotImplementedError

    def disjunction(self, operands: Sequence[Truth]) -> Truth:
        raise NotImplementedError

    def negation(self) -> Truth:
        raise NotImplementedError

    def choose(self, condition: Truth, then: Any, otherwise: Any) -> Any:
        """Return ``then`` where ``condition`` holds, else ``otherwise``; any of the three may be the symbolic one."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise_misuse(
            "a symbolic value has no truth value",
            "write And, Or, Not, If, Min, Max for and, or, not, if, min, max; split chained comparisons and in",
        )

    def __hash__(self) -> int:
        raise_misuse("a symbolic value cannot be hashed", "do not put it into a set or use it as a key")

    def __index__(self) -> int:
        raise_misuse("a symbolic value cannot be an index", "compare it with each index, or ask the buffer: has(age)")


@contextmanager
def record_misuse() -> Iterator[list[SymbolicMisuse]]:
    """Record every misuse within this block, whether or not the exception is caught on its way."""
    noticed: list[SymbolicMisuse] = []
    outer = _noticed.get()
    token = _noticed.set(noticed)
    try:
        yield noticed
    finally:
        _noticed.reset(token)
        if outer is not None:
            outer += noticed


def raise_misuse(message: str, hint: str) -> NoReturn:
    """Raise an error with its place in the author's file: the nearest frame outside this package."""
    error = _build_misuse(message, hint)
    noticed = _noticed.get()
    if noticed is not None:
        noticed.append(error)
    raise error


def _build_misuse(message: str, hint: str) -> SymbolicMisuse:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("fdverify."):
        frame = frame.f_back
    if frame is None:
        return SymbolicMisuse(message, hint)
    code = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return SymbolicMisuse(f"{message} in `{code}`" if code else message, hint, SourceLocation.from_frame(frame))


def shorten_value(value: object) -> str:
    """Format a value for a message: on one line, and not a long one."""
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def And(*operands: Truth) -> Truth:
    return _connect_operands(operands, unit=True, on_arrays=and_)


def Or(*operands: Truth) -> Truth:
    return _connect_operands(operands, unit=False, on_arrays=or_)


def _connect_operands(operands: Sequence[Truth], unit: bool, on_arrays: Callable[[Any, Any], Any]) -> Truth:
    open_operands = []
    symbolic: Symbolic | None = None
    for operand in operands:
        if operand is True or operand is False:
            if operand is not unit:
                return operand
            continue
        if isinstance(operand, Symbolic) and operand.boolean:
            symbolic = operand if symbolic is None else symbolic
        else:
            _require_truth(operand)
        open_operands.append(operand)
    if len(open_operands) <= 1:
        return open_operands[0] if open_operands else unit
    if symbolic is not None:
        return symbolic.conjunction(open_operands) if unit else symbolic.disjunction(open_operands)
    return reduce(on_arrays, open_operands)


def Not(operand: Truth) -> Truth:
    if isinstance(operand, bool):
        return not operand
    return _require_truth(operand).negation() if isinstance(operand, Symbolic) else ~_require_truth(operand)


def Implies(premise: Truth, conclusion: Truth) -> Truth:
    watch = _watch.get()
    if watch is not None:
        watch(_locate_call(sys._getframe(1)), premise)
    return Or(Not(premise), conclusion)


@contextmanager
def watch_premises(watch: Callable[[Place, Truth], None]) -> Iterator[None]:
    """Call ``watch`` with the place and the premise of every implication built within this block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def _locate_call(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def Iff(left: Truth, right: Truth) -> Truth:
    return _require_truth(left) == _require_truth(right)


def If(condition: Truth, then: Any, otherwise: Any) -> Any:
    if isinstance(condition, bool):
        return then if condition else otherwise
    _require_truth(condition)
    for value in (condition, then, otherwise):
        if isinstance(value, Symbolic):
            return value.choose(condition, then, otherwise)
    arrays = condition.__array_namespace__()
    chosen = arrays.where(condition, _convert_for_array(arrays, then), _convert_for_array(arrays, otherwise))
    return chosen.astype(object) if _exact.get() and chosen.dtype.kind == "i" else chosen


@contextmanager
def use_exact_integers(exact: bool) -> Iterator[None]:
    """Let choices between constants be arrays of Python's integers within this block, which do not wrap around."""
    token = _exact.set(exact)
    try:
        yield
    finally:
        _exact.reset(token)


def Min(left: Number, right: Number) -> Number:
    return If(left <= right, left, right)


def Max(left: Number, right: Number) -> Number:
    return If(left >= right, left, right)


def _convert_for_array(arrays: Any, value: Any) -> Any:
    """Wrap an integer that exceeds a machine word, so that it enters an array unchanged."""
    wide = isinstance(value, int) and value.bit_length() > 62
    return arrays.asarray(value, dtype=object) if wide else value


def is_array(value: Any) -> bool:
    return hasattr(value, "__array_namespace__")


def is_truth(value: Any) -> bool:
    """Return whether ``value`` is a truth value (for an array: each entry)."""
    if isinstance(value, Symbolic):
        return value.boolean
    return isinstance(value, bool) or (is_array(value) and value.dtype == bool)


def is_number(value: Any) -> bool:
    """Return whether ``value`` is an integer (for an array: each entry)."""
    if isinstance(value, Symbolic):
        return not value.boolean
    return (isinstance(value, int) and not isinstance(value, bool)) or (is_array(value) and value.dtype.kind in "iO")


def _require_truth(operand: Truth) -> Any:
    if not is_truth(operand):
        raise_misuse(
            f"expected a truth value, got {type(operand).__name__} {shorten_value(operand)}",
            "compare numbers: x > 0, x == 1",
        )
    return operand
