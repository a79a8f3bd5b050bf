"""Abstract values: what is known of an expression's value from the source alone.

An abstract value is a set of atoms: the value may be any of them.  What matters is whether it depends on the state:
such a value is a number in one engine, an array or a symbol in another.  What is around it (a list that the function
built, an object that wraps it) is the same in every engine.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from fdverify.author_code.source.scope import Scope

PRIMITIVES = (int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))
BIRTHS = itertools.count()
"""Numbers objects in the order of their creation."""
_MANY = 12
"""A set of more constants than this is widened to an unknown constant."""


class Atom:
    """One possibility for a value."""

    __slots__ = ()


class Flavour(StrEnum):
    """The kind of a thing that depends on the state: a record of values, a value, or either."""

    RECORD = "record"
    VALUE = "value"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class OfState(Atom):
    """A value that depends on the state, the choices or an index."""

    flavour: Flavour


@dataclass(frozen=True, slots=True)
class Plain(Atom):
    """A value that does not depend on the state, and is otherwise unknown."""

    fractional: bool = False
    textual: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Known(Atom):
    """An object that existed before the call: a constant, a module, a function, the content of a closure."""

    object: Any

    def is_primitive(self) -> bool:
        return type(self.object) in PRIMITIVES or type(self.object) is bool or isinstance(self.object, Enum)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return False
        if self.object is other.object:
            return True
        same_type = type(self.object) is type(other.object)
        return same_type and type(self.object) in PRIMITIVES and bool(self.object == other.object)

    def __hash__(self) -> int:
        return hash(self.object) if type(self.object) in PRIMITIVES else id(self.object)


@dataclass(eq=False, slots=True)
class Made(Atom):
    """A container that was created in this call; it has ``items`` or ``named`` while its parts are known one by one."""

    kind: str
    items: list[Value] | None = None
    named: dict[Any, Value] | None = None
    rest: Value = frozenset()
    keys: Value = frozenset()
    birth: int = field(default_factory=lambda: next(BIRTHS))

    def elements(self) -> Value:
        """Return what may be in the container; for a dictionary, its values."""
        parts = [*(self.items or ()), *(self.named or {}).values(), self.rest]
        return join(*parts)

    def forget_order(self) -> None:
        """Merge the parts into one value: after a change they are no longer known one by one."""
        self.rest = self.elements()
        if self.named is not None:
            self.keys = join(self.keys, *(frozenset({Known(key)}) for key in self.named))
        self.items = self.named = None


@dataclass(eq=False, slots=True)
class Wrapped(Atom):
    """An object of an author's class that was created in this call."""

    of: type
    fields: dict[str, Value] = field(default_factory=dict)
    birth: int = field(default_factory=lambda: next(BIRTHS))


@dataclass(eq=False, slots=True)
class LocalFunction(Atom):
    """A function that was defined in this call."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    defaults: list[Value]
    keyword_defaults: dict[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class BoundTo(Atom):
    """A function that is bound to its first argument."""

    function: Value
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class PartOf(Atom):
    """A function with some of its arguments fixed."""

    function: Value
    args: tuple[Value, ...]
    named: dict[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Above(Atom):
    """The result of ``super()``: a receiver whose methods are looked up above a class."""

    above: type
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Member(Atom):
    """A method, known only by its name, of something whose class is not an author's."""

    owner: Atom
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Answering(Atom):
    """A function that always returns this value."""

    value: Value


Value: TypeAlias = frozenset[Atom]

NOTHING: Value = frozenset()
PLAIN: Value = frozenset({Plain()})
FRACTION: Value = frozenset({Plain(fractional=True)})
TEXT: Value = frozenset({Plain(textual=True)})
RECORD: Value = frozenset({OfState(Flavour.RECORD)})
VALUE: Value = frozenset({OfState(Flavour.VALUE)})
ANY: Value = frozenset({OfState(Flavour.ANY)})
NONE: Value = frozenset({Known(None)})


def known(value: Any) -> Value:
    return frozenset({Known(value)})


def made(kind: str, items: list[Value] | None = None, rest: Value = NOTHING, keys: Value = NOTHING) -> Value:
    return frozenset({Made(kind, items, rest=rest, keys=keys)})


def join(*values: Value) -> Value:
    """Return the value that may be any of these; too many constants are widened to an unknown one."""
    joined = NOTHING.union(*values)
    if len(joined) <= _MANY:
        return joined
    constants = {atom for atom in joined if isinstance(atom, Known) and atom.is_primitive()}
    if len(constants) <= _MANY:
        return joined
    fractional = any(isinstance(atom, Known) and isinstance(atom.object, float) for atom in constants)
    textual = any(isinstance(atom, Known) and isinstance(atom.object, str) for atom in constants)
    return (joined - constants) | {Plain(fractional, textual)}


def is_state(value: Value) -> bool:
    """Tell whether the value itself may depend on the state."""
    return any(type(atom) is OfState for atom in value)


def holds_state(value: Value) -> bool:
    """Tell whether the value may depend on the state, or hold something that does."""
    return _holds(value, set())


def _holds(value: Value, seen: set[int]) -> bool:
    for atom in value:
        if type(atom) is OfState:
            return True
        if type(atom) in (Plain, Known) or id(atom) in seen:
            continue
        seen.add(id(atom))
        if any(_holds(part, seen) for part in parts_of(atom)):
            return True
    return False


def parts_of(atom: Atom) -> list[Value]:
    """List the values that an atom holds."""
    match atom:
        case Made():
            return [atom.elements(), atom.keys]
        case Wrapped():
            return list(atom.fields.values())
        case BoundTo():
            return [atom.function, atom.receiver]
        case PartOf():
            return [atom.function, *atom.args, *atom.named.values()]
        case Answering():
            return [atom.value]
        case Member():
            return [frozenset({atom.owner})]
    return []
