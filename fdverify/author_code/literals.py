"""The integer literals of functions: their branches often part at values near them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

_LARGEST = 1 << 40
_DEEPEST = 3


def collect_literals(functions: Iterable[Callable[..., Any]]) -> set[int]:
    """Collect the integers in these functions, in their closures, and in the functions that they call by name."""
    literals: set[int] = set()
    seen: set[int] = set()
    for function in functions:
        _collect_from(function, literals, seen, _DEEPEST)
    return literals


def _collect_from(value: Any, literals: set[int], seen: set[int], depth: int) -> None:
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) <= _LARGEST:
            literals.add(int(value))
        return
    function = getattr(value, "__func__", value)
    code = getattr(function, "__code__", None)
    if depth == 0 or not isinstance(code, CodeType) or id(code) in seen:
        return
    seen.add(id(code))
    for held in _list_held_values(function, code):
        _collect_from(held, literals, seen, depth - 1)


def _list_held_values(function: Any, code: CodeType) -> Iterator[Any]:
    for part in _list_codes(code):
        yield from part.co_consts
        yield from (function.__globals__[name] for name in part.co_names if name in function.__globals__)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the cell is still empty
            continue
    yield from function.__defaults__ or ()


def _list_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_codes(constant)
