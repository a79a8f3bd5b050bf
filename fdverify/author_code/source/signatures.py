"""Signatures of constants: functions with equal signatures are built alike, and are read only once."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from fdverify.author_code.source.abstract_values import PRIMITIVES
from fdverify.author_code.source.scope import read_cells

_DEEP = 6


class Signature(NamedTuple):
    """A key, and whether it lasts as long as the process: no part is the identity of an object that may change."""

    key: Any
    lasts: bool


def build_signature(value: Any, depth: int = 0) -> Signature:
    """Build a key that is equal for functions with equal code and contents, and for frozen objects with equal parts."""
    kind = type(value)
    if kind in PRIMITIVES or kind is bool:
        return Signature((kind, value), True)
    if isinstance(value, Enum):
        return Signature((kind, value.name), True)
    if depth < _DEEP:
        if kind is FunctionType:
            held = (read_cells(value), value.__defaults__ or (), value.__kwdefaults__ or {})
            parts = [*held[0].values(), *held[1], *held[2].values()]
            return _combine_signatures((id(value.__code__), id(value.__globals__), *held[0], *held[2]), parts, depth)
        if kind is MethodType:
            return _combine_signatures((kind,), [value.__func__, value.__self__], depth)
        if kind is tuple:
            return _combine_signatures((kind,), value, depth)
        if is_dataclass(kind) and kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            return _combine_signatures((kind,), [getattr(value, field.name, None) for field in fields(kind)], depth)
    return Signature(id(value), False)


def _combine_signatures(own: tuple[Any, ...], parts: Any, depth: int) -> Signature:
    signatures = [build_signature(part, depth + 1) for part in parts]
    return Signature((own, *(part.key for part in signatures)), all(part.lasts for part in signatures))
