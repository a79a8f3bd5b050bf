"""The whole numbers that functions mention: values near them are where their branches part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

_LARGEST = 1 << 40
_DEEPEST = 3


def literals_in(functions: Iterable[Callable[..., Any]]) -> set[int]:
    """The numbers in these functions, in what they close over, and in the functions that they call by name."""
    found: set[int] = set()
    seen: set[int] = set()
    for function in functions:
        _collect(function, found, seen, _DEEPEST)
    return found


def _collect(value: Any, found: set[int], seen: set[int], depth: int) -> None:
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) <= _LARGEST:
            found.add(int(value))
        return
    function = getattr(value, "__func__", value)
    code = getattr(function, "__code__", None)
    if depth == 0 or not isinstance(code, CodeType) or id(code) in seen:
        return
    seen.add(id(code))
    for each in _held(function, code):
        _collect(each, found, seen, depth - 1)


def _held(function: Any, code: CodeType) -> Iterator[Any]:
    for each in _codes(code):
        yield from each.co_consts
        yield from (function.__globals__[name] for name in each.co_names if name in function.__globals__)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it has not been filled yet
            continue
    yield from function.__defaults__ or ()


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
