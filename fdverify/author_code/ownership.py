"""Which functions are this package's own: those are compared by its tests, not again in every check."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any

_PACKAGE = "fdverify"
_PLAIN = (bool, int, str, bytes, type(None))


def is_package_function(function: Callable[..., Any]) -> bool:
    """Tell whether a function, and everything that it closes over, is written in this package."""
    return _is_package_value(function, set())


def _is_package_value(value: Any, seen: set[int]) -> bool:
    if id(value) in seen or type(value) in _PLAIN:
        return True
    seen.add(id(value))
    match value:
        case FunctionType():
            held = (*(value.__closure__ or ()), *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
            return is_package_code(value) and all(_is_package_value(each, seen) for each in held)
        case MethodType():
            return _is_package_value(value.__func__, seen) and _is_package_value(value.__self__, seen)
        case functools.partial():
            return all(_is_package_value(each, seen) for each in (value.func, *value.args, *value.keywords.values()))
        case CellType():
            return _is_package_value(_read_cell(value), seen)
        case Mapping():
            return all(_is_package_value(each, seen) for each in (*value.keys(), *value.values()))
        case Enum():
            return _is_package_module(type(value).__module__)  # an author's enum may define its own comparison
        case Sequence() | Set():
            return all(_is_package_value(each, seen) for each in value)
        case BuiltinFunctionType():
            return False
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _is_package_module(type(value).__module__) and all(
                _is_package_value(getattr(value, each.name), seen) for each in fields(value)
            )
        case _:
            return False


def is_package_code(function: FunctionType) -> bool:
    """Tell whether the code of a function is this package's, whatever it wraps or closes over."""
    return _is_package_module(function.__globals__.get("__name__"))


def unwrap_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Remove the wrappers that this package, and nobody else, has put around an author's function."""
    while isinstance(function, FunctionType) and is_package_code(function) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _read_cell(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the cell is still empty
        return None


def _is_package_module(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == _PACKAGE
