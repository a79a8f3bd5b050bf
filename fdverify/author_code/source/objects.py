"""Attributes, items and elements of all kinds of values."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from functools import cached_property
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any

from fdverify.author_code.source.abstract import (
    ANY,
    NOTHING,
    PLAIN,
    RECORD,
    TEXT,
    VALUE,
    Above,
    Answering,
    Atom,
    BoundTo,
    Flavour,
    Known,
    Made,
    Member,
    OfState,
    Value,
    Wrapped,
    holds_state,
    join,
    known,
    made,
)
from fdverify.author_code.source.core import (
    Args,
    Core,
    authors_method,
    declared_in,
    is_of_package,
    is_worldly,
    only_known,
)
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope
from fdverify.author_code.source.tables import BUFFER, CLOCKS, CONSTANT_NAMES, DISTURBING, FILES, INSIDE

_LONG = 1000
"""The elements of a longer constant are not read one by one."""


class Objects(Core):
    def attribute(self, base: Value, name: str, node: ast.AST, scope: Scope) -> Value:
        return join(*(self._attribute_of(atom, name, node, scope) for atom in base))

    def _attribute_of(self, atom: Atom, name: str, node: ast.AST, scope: Scope) -> Value:
        match atom:
            case OfState(flavour):
                return self._state_attribute(flavour, name, node, scope)
            case Known(value):
                return self._known_attribute(value, name, node, scope)
            case Wrapped():
                return self._wrapped_attribute(atom, name, node, scope)
            case Above():
                return self._inherited(atom, name)
        return frozenset({Member(atom, name)})

    def _state_attribute(self, flavour: Flavour, name: str, node: ast.AST, scope: Scope) -> Value:
        if name.startswith("_") or (name in INSIDE and flavour is not Flavour.RECORD):
            self.refuse(Refusal.ATTRIBUTE, node, scope)
        match flavour:
            case Flavour.RECORD if name == "values":
                return frozenset({Answering(made("dict", rest=VALUE, keys=PLAIN))})
            case Flavour.RECORD if name == "changed":
                return frozenset({Answering(RECORD)})
            case Flavour.RECORD:
                return VALUE
            case Flavour.VALUE if name not in BUFFER:
                self.refuse(Refusal.ATTRIBUTE, node, scope)
            case Flavour.ANY if name == "changes":
                return made("dict", rest=ANY, keys=PLAIN)
        return ANY

    def _known_attribute(self, value: Any, name: str, node: ast.AST, scope: Scope) -> Value:
        self.check_world(value, node, scope, name)
        if isinstance(value, ModuleType | type):
            return self._plainly_read(value, name)
        declared = declared_in(type(value), name)
        getter = declared.fget if isinstance(declared, property) else None
        if isinstance(declared, cached_property) and name not in vars(value):
            getter = declared.func
        if isinstance(getter, FunctionType) and not is_of_package(getter):
            return self.call(known(getter), Args([known(value)]), node, scope)
        if declared is None and name not in getattr(value, "__dict__", ()):
            own = authors_method(type(value), "__getattr__")
            if own is not None:
                return self.call(known(own), Args([known(value), known(name)]), node, scope)
        return self._plainly_read(value, name)

    def _plainly_read(self, value: Any, name: str) -> Value:
        try:
            return known(getattr(value, name))
        except Exception:  # an author's descriptor may raise anything
            return PLAIN

    def check_world(self, value: Any, node: ast.AST, scope: Scope, name: str = "") -> None:
        """Refuse a part of the library that accesses the environment."""
        if is_worldly(value) and name not in CONSTANT_NAMES:
            self.refuse(Refusal.WORLD, node, scope)
        kind = value if isinstance(value, type) else type(value)
        if (name in CLOCKS and kind.__module__ == "datetime") or (name in FILES and issubclass(kind, PurePath)):
            self.refuse(Refusal.WORLD, node, scope)

    def _wrapped_attribute(self, atom: Wrapped, name: str, node: ast.AST, scope: Scope) -> Value:
        receiver = frozenset({atom})
        if name in atom.fields:
            return atom.fields[name]
        if name == "__class__":
            return known(atom.of)
        if issubclass(atom.of, tuple) and name in ("_replace", "_asdict"):
            return frozenset({Member(atom, name)})
        match declared_in(atom.of, name, missing=atom):
            case property(fget=FunctionType() as getter) | cached_property(func=FunctionType() as getter):
                return self.call(known(getter), Args([receiver]), node, scope)
            case FunctionType() as function:
                return frozenset({BoundTo(known(function), receiver)})
            case staticmethod(__func__=function):
                return known(function)
            case classmethod(__func__=function):
                return frozenset({BoundTo(known(function), known(atom.of))})
            case declared if declared is not atom and not hasattr(declared, "__get__"):
                return known(declared)
        return PLAIN

    def _inherited(self, atom: Above, name: str) -> Value:
        methods = []
        for receiver in atom.receiver:
            cls = receiver.of if isinstance(receiver, Wrapped) else type(getattr(receiver, "object", None))
            cls = receiver.object if isinstance(receiver, Known) and isinstance(receiver.object, type) else cls
            above = cls.__mro__[cls.__mro__.index(atom.above) + 1 :] if atom.above in cls.__mro__ else ()
            declared = next((vars(base)[name] for base in above if name in vars(base)), None)
            declared = declared.__func__ if isinstance(declared, staticmethod | classmethod) else declared
            bound = BoundTo(known(declared), frozenset({receiver}))
            methods.append(bound if isinstance(declared, FunctionType) else Answering(PLAIN))
        return frozenset(methods)

    def store_attribute(self, base: Value, name: str, value: Value, node: ast.AST, scope: Scope) -> None:
        for atom in base:
            if not isinstance(atom, Wrapped):
                self.refuse(Refusal.MEMORY, node, scope)
            self.check_change(atom, node, scope)
            if holds_state(value):
                self.check_wrapper(atom.of, node, scope)
            atom.fields[name] = join(atom.fields.get(name, NOTHING), value)

    def check_wrapper(self, cls: type, node: ast.AST, scope: Scope) -> None:
        """Refuse state values in objects of a class with its own comparison, hash or attribute access."""
        if any(authors_method(cls, name) is not None for name in DISTURBING):
            self.refuse(Refusal.CLASS, node, scope)

    def store_item(self, base: Value, key: Value, value: Value, node: ast.AST, scope: Scope) -> None:
        for atom in base:
            if isinstance(atom, Wrapped) and authors_method(atom.of, "__setitem__"):
                self.call(
                    self.attribute(frozenset({atom}), "__setitem__", node, scope), Args([key, value]), node, scope
                )
                continue
            if not isinstance(atom, Made):
                self.refuse(Refusal.MEMORY, node, scope)
            self.check_change(atom, node, scope)
            if holds_state(key):
                self.refuse(Refusal.SET if atom.kind == "dict" else Refusal.INDEX, node, scope)
            atom.forget_order()
            atom.rest = join(atom.rest, value)
            atom.keys = join(atom.keys, key)

    def item(self, base: Value, key: Value, node: ast.AST, scope: Scope) -> Value:
        """Read ``base[key]``."""
        if holds_state(key):
            self.refuse(Refusal.INDEX, node, scope)
        return join(*(self._item_of(atom, key, node, scope) for atom in base))

    def _item_of(self, atom: Atom, key: Value, node: ast.AST, scope: Scope) -> Value:
        constant = only_known(key)
        match atom:
            case OfState(flavour):
                if flavour is Flavour.VALUE:
                    self.refuse(Refusal.INDEX, node, scope)
                return VALUE if flavour is Flavour.RECORD else ANY
            case Made():
                return _item_of_made(atom, constant)
            case Known(value):
                self.check_world(value, node, scope)
                return self._item_of_known(value, constant, node, scope)
            case Wrapped() if authors_method(atom.of, "__getitem__"):
                getter = self.attribute(frozenset({atom}), "__getitem__", node, scope)
                return self.call(getter, Args([key]), node, scope)
            case Wrapped():
                return join(PLAIN, *atom.fields.values())
        return PLAIN

    def _item_of_known(self, value: Any, constant: Known | None, node: ast.AST, scope: Scope) -> Value:
        own = authors_method(type(value), "__getitem__") or authors_method(type(value), "__missing__")
        if own is not None:
            return self.call(
                known(own), Args([known(value), PLAIN if constant is None else known(constant.object)]), node, scope
            )
        fills = hasattr(value, "default_factory")
        if constant is not None and not (fills and constant.object not in value):
            try:
                return known(value[constant.object])
            except Exception:  # it is raised in every engine
                return PLAIN
        if fills:
            self.refuse(Refusal.MEMORY, node, scope)
        if isinstance(value, str):
            return TEXT
        if isinstance(value, Mapping):
            value = list(value.values())
        return self.elements(known(value), node, scope) if isinstance(value, Collection) else PLAIN

    def elements(self, value: Value, node: ast.AST, scope: Scope) -> Value:
        """Return what a loop over the value yields."""
        return join(*(self._elements_of(atom, node, scope) for atom in value))

    def _elements_of(self, atom: Atom, node: ast.AST, scope: Scope) -> Value:
        match atom:
            case OfState(flavour):
                if flavour is not Flavour.ANY:
                    self.refuse(Refusal.ITERATE, node, scope)
                return ANY
            case Made(kind="dict"):
                return join(atom.keys, *(known(key) for key in atom.named or ()))
            case Made():
                if atom.kind == "iterator":  # which iterating consumes
                    self.check_change(atom, node, scope)
                return atom.elements()
            case Known(value):
                return self._elements_of_known(value, node, scope)
            case Wrapped() if authors_method(atom.of, "__iter__"):
                iterator = self.attribute(frozenset({atom}), "__iter__", node, scope)
                return self.elements(self.call(iterator, Args(), node, scope), node, scope)
            case Wrapped():
                return join(PLAIN, *atom.fields.values())
        return PLAIN

    def _elements_of_known(self, value: Any, node: ast.AST, scope: Scope) -> Value:
        self.check_world(value, node, scope)
        if isinstance(value, Iterator):
            self.refuse(Refusal.SHARED, node, scope)
        own = authors_method(type(value), "__iter__")
        if own is not None:
            return self.elements(self.call(known(own), Args([known(value)]), node, scope), node, scope)
        is_enum = isinstance(value, type) and issubclass(value, Enum)
        if (isinstance(value, str | range) and len(value) > _LONG) or not (is_enum or isinstance(value, Collection)):
            return PLAIN
        return join(*(known(element) for element in value))

    def unpacked(self, value: Value, number: int, node: ast.AST, scope: Scope) -> list[Value]:
        """Unpack a value into ``number`` parts."""
        parts: list[list[Value]] = [[] for _ in range(number)]
        for atom in value:
            exact = _parts(atom)
            if exact is None or len(exact) != number:
                exact = [self.elements(frozenset({atom}), node, scope)] * number
            for place, part in enumerate(exact):
                parts[place].append(part)
        return [join(*values) for values in parts]

    def spread(self, value: Value, node: ast.AST, scope: Scope) -> tuple[list[Value], Value]:
        """Return the elements of a starred value: one by one if they are known, else joined."""
        if len(value) == 1:
            exact = _parts(next(iter(value)))
            if exact is not None:
                return exact, NOTHING
        return [], self.elements(value, node, scope)


def _parts(atom: Atom) -> list[Value] | None:
    """Return the elements of a sequence, if they are known one by one."""
    match atom:
        case Made(items=items) if items is not None:
            return list(items)
        case Known(tuple() | list() as value) if len(value) <= _LONG and not is_worldly(value):
            return [known(element) for element in value]
        case Wrapped() if issubclass(atom.of, tuple):
            return list(atom.fields.values())
    return None


def _item_of_made(atom: Made, constant: Known | None) -> Value:
    if constant is not None and isinstance(constant.object, slice) and atom.items is not None:
        return made(atom.kind, atom.items[constant.object])
    if constant is None or isinstance(constant.object, slice):
        sliced = constant is not None
        return made(atom.kind, rest=atom.elements()) if sliced else atom.elements()
    if (
        atom.items is not None
        and isinstance(constant.object, int)
        and -len(atom.items) <= constant.object < len(atom.items)
    ):
        return atom.items[constant.object]
    if atom.named is not None and constant.is_primitive() and constant.object in atom.named:
        return atom.named[constant.object]
    return atom.elements()
