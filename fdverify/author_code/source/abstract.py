"""Abstract values: what is known of an expression's value when only the source is read.

A value is a set of atoms, of which it may be any.  What matters is whether it comes from the state: such a value is a
number here, an array or a symbol there.  What is around it (a list that the function made, an object that wraps it) is
the same everywhere.
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
"""Numbers what is made, in the order in which it is."""
_MANY = 12
"""Of more constants than this it is only known that they are constants."""


class Atom:
    """One thing that a value may be."""

    __slots__ = ()


class Flavour(StrEnum):
    """What kind of thing comes from the state: a record of values, a value, or one of the two."""

    RECORD = "record"
    VALUE = "value"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class OfState(Atom):
    """A value that depends on the state, the choices or an index."""

    flavour: Flavour


@dataclass(frozen=True, slots=True)
class Plain(Atom):
    """Some value that does not depend on the state; more is not known of it."""

    fractional: bool = False
    textual: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Known(Atom):
    """An object that was there before the call: a constant, a module, a function, what a closure holds."""

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
    """A container that was made in this call; ``items`` or ``named`` while its parts are known one by one."""

    kind: str
    items: list[Value] | None = None
    named: dict[Any, Value] | None = None
    rest: Value = frozenset()
    keys: Value = frozenset()
    birth: int = field(default_factory=lambda: next(BIRTHS))

    def elements(self) -> Value:
        """What may be in it; of a dictionary, the values."""
        parts = [*(self.items or ()), *(self.named or {}).values(), self.rest]
        return join(*parts)

    def forget_order(self) -> None:
        """Something is put in or taken out: its parts are no longer known one by one."""
        self.rest = self.elements()
        if self.named is not None:
            self.keys = join(self.keys, *(frozenset({Known(key)}) for key in self.named))
        self.items = self.named = None


@dataclass(eq=False, slots=True)
class Wrapped(Atom):
    """An object of an author's class that was made in this call."""

    of: type
    fields: dict[str, Value] = field(default_factory=dict)
    birth: int = field(default_factory=lambda: next(BIRTHS))


@dataclass(eq=False, slots=True)
class LocalFunction(Atom):
    """A function that was made in this call."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    defaults: list[Value]
    keyword_defaults: dict[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class BoundTo(Atom):
    """A function with a first argument."""

    function: Value
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class PartOf(Atom):
    """A function with some of its arguments."""

    function: Value
    args: tuple[Value, ...]
    named: dict[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Above(Atom):
    """``super()``: a receiver, seen from above a class."""

    above: type
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Member(Atom):
    """A method, by name, of something whose class is not an author's."""

    owner: Atom
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Answering(Atom):
    """A function that always gives this value."""

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
    """What may be any of them."""
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
    """Whether it may itself be of the state."""
    return any(type(atom) is OfState for atom in value)


def holds_state(value: Value) -> bool:
    """Whether it may be of the state, or hold something that is."""
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
    """What an atom holds."""
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
