"""JSON documents: the outcomes of commands for machines.

A document is a dataclass, and its JSON has its fields.  A class can list the attributes to write in ``WRITTEN``, to
leave out fields or to add properties.  A class with a ``__str__`` of its own, such as a formula, is written as that
text.  The schema of a document is computed from the same types.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from fdverify import __version__


@dataclass(frozen=True, kw_only=True)
class Document:
    """The fields that all documents share; ``schema_version`` grows when a field changes its name or its meaning."""

    tool: Literal["fdverify"] = "fdverify"
    version: str = __version__
    schema_version: int = 1
    command: str


def write_document(document: Document) -> str:
    """Write a document as JSON text."""
    # The standard library's writer, because numbers may be larger than 64 bits.
    return json.dumps(_to_plain(document), indent=2) + "\n"


def write_schema(kind: type[Document]) -> str:
    """Write the JSON Schema of a type of documents."""
    import msgspec

    struct: Any = _to_struct(cast(Any, kind))
    schema = _put_null_last(msgspec.json.schema(struct))
    return json.dumps(schema, indent=2) + "\n"


def _to_plain(value: Any) -> Any:
    """Convert a value to JSON types; round seconds to milliseconds."""
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return str(value)  # the value of a member of an enumeration
        case Mapping():
            return {str(name): _to_plain(part) for name, part in value.items()}
        case list() | tuple():
            return [_to_plain(part) for part in value]
    if _is_written_as_text(type(value)):
        return str(value)
    written = {name: _to_plain(part) for name, part in _list_written_values(value)}
    if isinstance(written.get("seconds"), float):
        written["seconds"] = round(written["seconds"], 3)
    return written


def _list_written_values(value: Any) -> Iterator[tuple[str, Any]]:
    return ((name, getattr(value, name)) for name in _list_written(type(value)))


def _list_written(kind: Any) -> tuple[str, ...]:
    """List the attributes of a class that are written, in order."""
    written: tuple[str, ...] | None = getattr(kind, "WRITTEN", None)
    return tuple(field.name for field in fields(kind)) if written is None else written


def _is_written_as_text(kind: type) -> bool:
    """Tell whether instances are written as text: the class is no dataclass, or defines ``__str__`` itself."""
    return not is_dataclass(kind) or "__str__" in vars(kind)


@cache
def _to_struct(kind: Any) -> Any:
    """Build a msgspec struct from a dataclass, so that msgspec can compute the schema."""
    import msgspec

    written = [(name, _to_schema_type(_find_type(kind, name))) for name in _list_written(kind)]
    return msgspec.defstruct(kind.__name__, written, namespace={"__doc__": kind.__doc__})


def _find_type(kind: type, name: str) -> Any:
    """Find the type of a field or a property.  Annotations are strings; only those that are needed are evaluated."""
    for owner in kind.__mro__:
        attribute = vars(owner).get(name)
        if isinstance(attribute, property):
            assert attribute.fget is not None, "a property that is written can be read"
            return eval(attribute.fget.__annotations__["return"], attribute.fget.__globals__)
        if name in vars(owner).get("__annotations__", {}):
            return eval(owner.__annotations__[name], vars(sys.modules[owner.__module__]))
    raise TypeError(f"{kind.__name__} has no {name} to write")


def _to_schema_type(kind: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Annotated[(_to_schema_type(arguments[0]), *arguments[1:])]
    if origin in (Union, UnionType):
        return Union[tuple(_to_schema_type(each) for each in arguments)]  # noqa: UP007 - built from a tuple
    if origin is Literal or kind in (Any, str, int, float, bool, NoneType):
        return kind
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _to_schema_type(arguments[1])]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Sequence | AbstractSet):
        return list[_to_schema_type(arguments[0])]  # type: ignore[misc]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return str if _is_written_as_text(kind) else _to_struct(kind)


def _put_null_last(part: Any) -> Any:
    """Normalise the order of alternatives, which depends on the version of msgspec."""
    if isinstance(part, list):
        return [_put_null_last(each) for each in sorted(part, key=lambda each: each == {"type": "null"})]
    if isinstance(part, dict):
        return {name: _put_null_last(each) for name, each in part.items()}
    return part


@dataclass(frozen=True, kw_only=True)
class UnansweredDocument(Document):
    """A command that ended without an answer: it reached the time limit, or its process was killed."""

    verdict: Literal["unknown"] = "unknown"
    detail: str
    seconds: float


def write_unanswered(name: str, arguments: Sequence[str], detail: str, seconds: float) -> str:
    command = arguments[0] if name == "fdverify" and not arguments[0].startswith("-") else name
    return write_document(UnansweredDocument(command=command, detail=detail, seconds=seconds))
