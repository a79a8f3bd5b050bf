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


class AbstractAtom:
    """One possibility for a value."""

    __slots__ = ()


class StateKind(StrEnum):
    """The kind of a thing that depends on the state: a record of values, a value, or either."""

    RECORD = "record"
    VALUE = "value"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class StateDependent(AbstractAtom):
    """A value that depends on the state, the choices or an index."""

    flavour: StateKind


@dataclass(frozen=True, slots=True)
class StateIndependent(AbstractAtom):
    """A value that does not depend on the state, and is otherwise unknown."""

    fractional: bool = False
    textual: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class KnownObject(AbstractAtom):
    """An object that existed before the call: a constant, a module, a function, the content of a closure."""

    object: Any

    def is_primitive(self) -> bool:
        return type(self.object) in PRIMITIVES or type(self.object) is bool or isinstance(self.object, Enum)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnownObject):
            return False
        if self.object is other.object:
            return True
        same_type = type(self.object) is type(other.object)
        return same_type and type(self.object) in PRIMITIVES and bool(self.object == other.object)

    def __hash__(self) -> int:
        return hash(self.object) if type(self.object) in PRIMITIVES else id(self.object)


@dataclass(eq=False, slots=True)
class NewContainer(AbstractAtom):
    """A container that was created in this call; it has ``items`` or ``named`` while its parts are known one by one."""

    kind: str
    items: list[AbstractValue] | None = None
    named: dict[Any, AbstractValue] | None = None
    rest: AbstractValue = frozenset()
    keys: AbstractValue = frozenset()
    birth: int = field(default_factory=lambda: next(BIRTHS))

    def join_elements(self) -> AbstractValue:
        """Return what may be in the container; for a dictionary, its values."""
        parts = [*(self.items or ()), *(self.named or {}).values(), self.rest]
        return join_values(*parts)

    def merge_parts(self) -> None:
        """Merge the parts into one value: after a change they are no longer known one by one."""
        self.rest = self.join_elements()
        if self.named is not None:
            self.keys = join_values(self.keys, *(frozenset({KnownObject(key)}) for key in self.named))
        self.items = self.named = None


@dataclass(eq=False, slots=True)
class NewObject(AbstractAtom):
    """An object of an author's class that was created in this call."""

    of: type
    fields: dict[str, AbstractValue] = field(default_factory=dict)
    birth: int = field(default_factory=lambda: next(BIRTHS))


@dataclass(eq=False, slots=True)
class LocalFunction(AbstractAtom):
    """A function that was defined in this call."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    defaults: list[AbstractValue]
    keyword_defaults: dict[str, AbstractValue]


@dataclass(frozen=True, slots=True, eq=False)
class BoundFunction(AbstractAtom):
    """A function that is bound to its first argument."""

    function: AbstractValue
    receiver: AbstractValue


@dataclass(frozen=True, slots=True, eq=False)
class PartialFunction(AbstractAtom):
    """A function with some of its arguments fixed."""

    function: AbstractValue
    args: tuple[AbstractValue, ...]
    named: dict[str, AbstractValue]


@dataclass(frozen=True, slots=True, eq=False)
class SuperProxy(AbstractAtom):
    """The result of ``super()``: a receiver whose methods are looked up above a class."""

    above: type
    receiver: AbstractValue


@dataclass(frozen=True, slots=True, eq=False)
class NamedMethod(AbstractAtom):
    """A method, known only by its name, of something whose class is not an author's."""

    owner: AbstractAtom
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ConstantFunction(AbstractAtom):
    """A function that always returns this value."""

    value: AbstractValue


AbstractValue: TypeAlias = frozenset[AbstractAtom]

NOTHING: AbstractValue = frozenset()
PLAIN: AbstractValue = frozenset({StateIndependent()})
FRACTION: AbstractValue = frozenset({StateIndependent(fractional=True)})
TEXT: AbstractValue = frozenset({StateIndependent(textual=True)})
RECORD: AbstractValue = frozenset({StateDependent(StateKind.RECORD)})
VALUE: AbstractValue = frozenset({StateDependent(StateKind.VALUE)})
ANY: AbstractValue = frozenset({StateDependent(StateKind.ANY)})


def lift_object(value: Any) -> AbstractValue:
    return frozenset({KnownObject(value)})


def build_container(
    kind: str, items: list[AbstractValue] | None = None, rest: AbstractValue = NOTHING, keys: AbstractValue = NOTHING
) -> AbstractValue:
    return frozenset({NewContainer(kind, items, rest=rest, keys=keys)})


def join_values(*values: AbstractValue) -> AbstractValue:
    """Return the value that may be any of these; too many constants are widened to an unknown one."""
    joined = NOTHING.union(*values)
    if len(joined) <= _MANY:
        return joined
    constants = {atom for atom in joined if isinstance(atom, KnownObject) and atom.is_primitive()}
    if len(constants) <= _MANY:
        return joined
    fractional = any(isinstance(atom, KnownObject) and isinstance(atom.object, float) for atom in constants)
    textual = any(isinstance(atom, KnownObject) and isinstance(atom.object, str) for atom in constants)
    return (joined - constants) | {StateIndependent(fractional, textual)}


def is_state(value: AbstractValue) -> bool:
    """Tell whether the value itself may depend on the state."""
    return any(type(atom) is StateDependent for atom in value)


def holds_state(value: AbstractValue) -> bool:
    """Tell whether the value may depend on the state, or hold something that does."""
    return _holds_state_inside(value, set())


def _holds_state_inside(value: AbstractValue, seen: set[int]) -> bool:
    for atom in value:
        if type(atom) is StateDependent:
            return True
        if type(atom) in (StateIndependent, KnownObject) or id(atom) in seen:
            continue
        seen.add(id(atom))
        if any(_holds_state_inside(part, seen) for part in list_parts(atom)):
            return True
    return False


def list_parts(atom: AbstractAtom) -> list[AbstractValue]:
    """List the values that an atom holds."""
    match atom:
        case NewContainer():
            return [atom.join_elements(), atom.keys]
        case NewObject():
            return list(atom.fields.values())
        case BoundFunction():
            return [atom.function, atom.receiver]
        case PartialFunction():
            return [atom.function, *atom.args, *atom.named.values()]
        case ConstantFunction():
            return [atom.value]
        case NamedMethod():
            return [frozenset({atom.owner})]
    return []
