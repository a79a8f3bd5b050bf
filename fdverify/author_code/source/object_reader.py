"""Attributes, items and elements of all kinds of values."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from functools import cached_property
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any

from fdverify.author_code.source.abstract_values import (
    ANY,
    NOTHING,
    PLAIN,
    RECORD,
    TEXT,
    VALUE,
    AbstractAtom,
    AbstractValue,
    BoundFunction,
    ConstantFunction,
    KnownObject,
    NamedMethod,
    NewContainer,
    NewObject,
    StateDependent,
    StateKind,
    SuperProxy,
    build_container,
    holds_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.name_tables import (
    BUFFER_ATTRIBUTES,
    CLOCK_METHODS,
    CONSTANT_NAMES,
    FILE_METHODS,
    FORM_SPECIFIC_ATTRIBUTES,
    MEANING_CHANGING_METHODS,
)
from fdverify.author_code.source.reader_base import (
    CallArguments,
    ReaderBase,
    find_author_method,
    find_declared,
    find_only_object,
    is_impure,
    is_of_package,
)
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope

_LONG = 1000
"""The elements of a longer constant are not read one by one."""


class ObjectReader(ReaderBase):
    def read_attribute(self, base: AbstractValue, name: str, node: ast.AST, scope: Scope) -> AbstractValue:
        return join_values(*(self._read_atom_attribute(atom, name, node, scope) for atom in base))

    def _read_atom_attribute(self, atom: AbstractAtom, name: str, node: ast.AST, scope: Scope) -> AbstractValue:
        match atom:
            case StateDependent(flavour):
                return self._read_state_attribute(flavour, name, node, scope)
            case KnownObject(value):
                return self._read_object_attribute(value, name, node, scope)
            case NewObject():
                return self._read_instance_attribute(atom, name, node, scope)
            case SuperProxy():
                return self._find_inherited(atom, name)
        return frozenset({NamedMethod(atom, name)})

    def _read_state_attribute(self, flavour: StateKind, name: str, node: ast.AST, scope: Scope) -> AbstractValue:
        if name.startswith("_") or (name in FORM_SPECIFIC_ATTRIBUTES and flavour is not StateKind.RECORD):
            self.refuse(Refusal.ATTRIBUTE, node, scope)
        match flavour:
            case StateKind.RECORD if name == "values":
                return frozenset({ConstantFunction(build_container("dict", rest=VALUE, keys=PLAIN))})
            case StateKind.RECORD if name == "changed":
                return frozenset({ConstantFunction(RECORD)})
            case StateKind.RECORD:
                return VALUE
            case StateKind.VALUE if name not in BUFFER_ATTRIBUTES:
                self.refuse(Refusal.ATTRIBUTE, node, scope)
            case StateKind.ANY if name == "changes":
                return build_container("dict", rest=ANY, keys=PLAIN)
        return ANY

    def _read_object_attribute(self, value: Any, name: str, node: ast.AST, scope: Scope) -> AbstractValue:
        self.check_pure(value, node, scope, name)
        if isinstance(value, ModuleType | type):
            return self._get_attribute(value, name)
        declared = find_declared(type(value), name)
        getter = declared.fget if isinstance(declared, property) else None
        if isinstance(declared, cached_property) and name not in vars(value):
            getter = declared.func
        if isinstance(getter, FunctionType) and not is_of_package(getter):
            return self.call(lift_object(getter), CallArguments([lift_object(value)]), node, scope)
        if declared is None and name not in getattr(value, "__dict__", ()):
            own = find_author_method(type(value), "__getattr__")
            if own is not None:
                return self.call(lift_object(own), CallArguments([lift_object(value), lift_object(name)]), node, scope)
        return self._get_attribute(value, name)

    def _get_attribute(self, value: Any, name: str) -> AbstractValue:
        try:
            return lift_object(getattr(value, name))
        except Exception:  # an author's descriptor may raise anything
            return PLAIN

    def check_pure(self, value: Any, node: ast.AST, scope: Scope, name: str = "") -> None:
        """Refuse a part of the library that accesses the environment."""
        if is_impure(value) and name not in CONSTANT_NAMES:
            self.refuse(Refusal.WORLD, node, scope)
        kind = value if isinstance(value, type) else type(value)
        if (name in CLOCK_METHODS and kind.__module__ == "datetime") or (
            name in FILE_METHODS and issubclass(kind, PurePath)
        ):
            self.refuse(Refusal.WORLD, node, scope)

    def _read_instance_attribute(self, atom: NewObject, name: str, node: ast.AST, scope: Scope) -> AbstractValue:
        receiver = frozenset({atom})
        if name in atom.fields:
            return atom.fields[name]
        if name == "__class__":
            return lift_object(atom.of)
        if issubclass(atom.of, tuple) and name in ("_replace", "_asdict"):
            return frozenset({NamedMethod(atom, name)})
        match find_declared(atom.of, name, missing=atom):
            case property(fget=FunctionType() as getter) | cached_property(func=FunctionType() as getter):
                return self.call(lift_object(getter), CallArguments([receiver]), node, scope)
            case FunctionType() as function:
                return frozenset({BoundFunction(lift_object(function), receiver)})
            case staticmethod(__func__=function):
                return lift_object(function)
            case classmethod(__func__=function):
                return frozenset({BoundFunction(lift_object(function), lift_object(atom.of))})
            case declared if declared is not atom and not hasattr(declared, "__get__"):
                return lift_object(declared)
        return PLAIN

    def _find_inherited(self, atom: SuperProxy, name: str) -> AbstractValue:
        methods = []
        for receiver in atom.receiver:
            cls = receiver.of if isinstance(receiver, NewObject) else type(getattr(receiver, "object", None))
            cls = receiver.object if isinstance(receiver, KnownObject) and isinstance(receiver.object, type) else cls
            above = cls.__mro__[cls.__mro__.index(atom.above) + 1 :] if atom.above in cls.__mro__ else ()
            declared = next((vars(base)[name] for base in above if name in vars(base)), None)
            declared = declared.__func__ if isinstance(declared, staticmethod | classmethod) else declared
            bound = BoundFunction(lift_object(declared), frozenset({receiver}))
            methods.append(bound if isinstance(declared, FunctionType) else ConstantFunction(PLAIN))
        return frozenset(methods)

    def store_attribute(
        self, base: AbstractValue, name: str, value: AbstractValue, node: ast.AST, scope: Scope
    ) -> None:
        for atom in base:
            if not isinstance(atom, NewObject):
                self.refuse(Refusal.MEMORY, node, scope)
            self.check_change(atom, node, scope)
            if holds_state(value):
                self.check_wrapper_class(atom.of, node, scope)
            atom.fields[name] = join_values(atom.fields.get(name, NOTHING), value)

    def check_wrapper_class(self, cls: type, node: ast.AST, scope: Scope) -> None:
        """Refuse state values in objects of a class with its own comparison, hash or attribute access."""
        if any(find_author_method(cls, name) is not None for name in MEANING_CHANGING_METHODS):
            self.refuse(Refusal.CLASS, node, scope)

    def store_item(
        self, base: AbstractValue, key: AbstractValue, value: AbstractValue, node: ast.AST, scope: Scope
    ) -> None:
        for atom in base:
            if isinstance(atom, NewObject) and find_author_method(atom.of, "__setitem__"):
                self.call(
                    self.read_attribute(frozenset({atom}), "__setitem__", node, scope),
                    CallArguments([key, value]),
                    node,
                    scope,
                )
                continue
            if not isinstance(atom, NewContainer):
                self.refuse(Refusal.MEMORY, node, scope)
            self.check_change(atom, node, scope)
            if holds_state(key):
                self.refuse(Refusal.SET if atom.kind == "dict" else Refusal.INDEX, node, scope)
            atom.merge_parts()
            atom.rest = join_values(atom.rest, value)
            atom.keys = join_values(atom.keys, key)

    def read_item(self, base: AbstractValue, key: AbstractValue, node: ast.AST, scope: Scope) -> AbstractValue:
        """Read ``base[key]``."""
        if holds_state(key):
            self.refuse(Refusal.INDEX, node, scope)
        return join_values(*(self._read_atom_item(atom, key, node, scope) for atom in base))

    def _read_atom_item(self, atom: AbstractAtom, key: AbstractValue, node: ast.AST, scope: Scope) -> AbstractValue:
        constant = find_only_object(key)
        match atom:
            case StateDependent(flavour):
                if flavour is StateKind.VALUE:
                    self.refuse(Refusal.INDEX, node, scope)
                return VALUE if flavour is StateKind.RECORD else ANY
            case NewContainer():
                return _read_container_item(atom, constant)
            case KnownObject(value):
                self.check_pure(value, node, scope)
                return self._read_object_item(value, constant, node, scope)
            case NewObject() if find_author_method(atom.of, "__getitem__"):
                getter = self.read_attribute(frozenset({atom}), "__getitem__", node, scope)
                return self.call(getter, CallArguments([key]), node, scope)
            case NewObject():
                return join_values(PLAIN, *atom.fields.values())
        return PLAIN

    def _read_object_item(self, value: Any, constant: KnownObject | None, node: ast.AST, scope: Scope) -> AbstractValue:
        own = find_author_method(type(value), "__getitem__") or find_author_method(type(value), "__missing__")
        if own is not None:
            return self.call(
                lift_object(own),
                CallArguments([lift_object(value), PLAIN if constant is None else lift_object(constant.object)]),
                node,
                scope,
            )
        fills = hasattr(value, "default_factory")
        if constant is not None and not (fills and constant.object not in value):
            try:
                return lift_object(value[constant.object])
            except Exception:  # it is raised in every engine
                return PLAIN
        if fills:
            self.refuse(Refusal.MEMORY, node, scope)
        if isinstance(value, str):
            return TEXT
        if isinstance(value, Mapping):
            value = list(value.values())
        return self.read_elements(lift_object(value), node, scope) if isinstance(value, Collection) else PLAIN

    def read_elements(self, value: AbstractValue, node: ast.AST, scope: Scope) -> AbstractValue:
        """Return what a loop over the value yields."""
        return join_values(*(self._read_atom_elements(atom, node, scope) for atom in value))

    def _read_atom_elements(self, atom: AbstractAtom, node: ast.AST, scope: Scope) -> AbstractValue:
        match atom:
            case StateDependent(flavour):
                if flavour is not StateKind.ANY:
                    self.refuse(Refusal.ITERATE, node, scope)
                return ANY
            case NewContainer(kind="dict"):
                return join_values(atom.keys, *(lift_object(key) for key in atom.named or ()))
            case NewContainer():
                if atom.kind == "iterator":  # which iterating consumes
                    self.check_change(atom, node, scope)
                return atom.join_elements()
            case KnownObject(value):
                return self._read_object_elements(value, node, scope)
            case NewObject() if find_author_method(atom.of, "__iter__"):
                iterator = self.read_attribute(frozenset({atom}), "__iter__", node, scope)
                return self.read_elements(self.call(iterator, CallArguments(), node, scope), node, scope)
            case NewObject():
                return join_values(PLAIN, *atom.fields.values())
        return PLAIN

    def _read_object_elements(self, value: Any, node: ast.AST, scope: Scope) -> AbstractValue:
        self.check_pure(value, node, scope)
        if isinstance(value, Iterator):
            self.refuse(Refusal.SHARED, node, scope)
        own = find_author_method(type(value), "__iter__")
        if own is not None:
            return self.read_elements(
                self.call(lift_object(own), CallArguments([lift_object(value)]), node, scope), node, scope
            )
        is_enum = isinstance(value, type) and issubclass(value, Enum)
        if (isinstance(value, str | range) and len(value) > _LONG) or not (is_enum or isinstance(value, Collection)):
            return PLAIN
        return join_values(*(lift_object(element) for element in value))

    def unpack(self, value: AbstractValue, number: int, node: ast.AST, scope: Scope) -> list[AbstractValue]:
        """Unpack a value into ``number`` parts."""
        parts: list[list[AbstractValue]] = [[] for _ in range(number)]
        for atom in value:
            exact = _list_known_elements(atom)
            if exact is None or len(exact) != number:
                exact = [self.read_elements(frozenset({atom}), node, scope)] * number
            for place, part in enumerate(exact):
                parts[place].append(part)
        return [join_values(*values) for values in parts]

    def spread(self, value: AbstractValue, node: ast.AST, scope: Scope) -> tuple[list[AbstractValue], AbstractValue]:
        """Return the elements of a starred value: one by one if they are known, else joined."""
        if len(value) == 1:
            exact = _list_known_elements(next(iter(value)))
            if exact is not None:
                return exact, NOTHING
        return [], self.read_elements(value, node, scope)


def _list_known_elements(atom: AbstractAtom) -> list[AbstractValue] | None:
    """Return the elements of a sequence, if they are known one by one."""
    match atom:
        case NewContainer(items=items) if items is not None:
            return list(items)
        case KnownObject(tuple() | list() as value) if len(value) <= _LONG and not is_impure(value):
            return [lift_object(element) for element in value]
        case NewObject() if issubclass(atom.of, tuple):
            return list(atom.fields.values())
    return None


def _read_container_item(atom: NewContainer, constant: KnownObject | None) -> AbstractValue:
    if constant is not None and isinstance(constant.object, slice) and atom.items is not None:
        return build_container(atom.kind, atom.items[constant.object])
    if constant is None or isinstance(constant.object, slice):
        sliced = constant is not None
        return build_container(atom.kind, rest=atom.join_elements()) if sliced else atom.join_elements()
    if (
        atom.items is not None
        and isinstance(constant.object, int)
        and -len(atom.items) <= constant.object < len(atom.items)
    ):
        return atom.items[constant.object]
    if atom.named is not None and constant.is_primitive() and constant.object in atom.named:
        return atom.named[constant.object]
    return atom.join_elements()
