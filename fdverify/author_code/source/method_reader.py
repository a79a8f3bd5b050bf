"""Methods of Python's containers and strings, and methods of which only the name is known."""

from __future__ import annotations

import ast
from types import BuiltinMethodType, MethodWrapperType
from typing import Any, TypeAlias

from fdverify.author_code.source.abstract_values import (
    ANY,
    PLAIN,
    TEXT,
    AbstractValue,
    KnownObject,
    NamedMethod,
    NewContainer,
    NewObject,
    StateIndependent,
    build_container,
    holds_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.name_tables import (
    FILE_METHODS,
    MUTATING_METHODS,
    PURE_METHODS,
    STRING_METHODS,
)
from fdverify.author_code.source.operator_reader import OperatorReader
from fdverify.author_code.source.reader_base import CallArguments, find_only_object
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope

BuiltinMethod: TypeAlias = BuiltinMethodType | MethodWrapperType
BUILTIN_METHODS = (BuiltinMethodType, MethodWrapperType)


class MethodReader(OperatorReader):
    def call_member(self, member: NamedMethod, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        match member.owner:
            case NewContainer() as container:
                return self._call_container_method(container, member.name, args, node, scope)
            case NewObject() as wrapped:  # a method of a named tuple
                if member.name == "_asdict":
                    return frozenset({NewContainer("dict", named=dict(wrapped.fields))})
                return frozenset({NewObject(wrapped.of, {**wrapped.fields, **args.named})})
        return self._call_unknown_method(member, args, node, scope)

    def _call_unknown_method(
        self, member: NamedMethod, args: CallArguments, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        if member.name in FILE_METHODS and isinstance(member.owner, StateIndependent):
            self.refuse(Refusal.WORLD, node, scope)
        self.check_arguments(args, node, scope)
        if member.name in MUTATING_METHODS and self.lasting > 0:  # the object may have existed before the call
            self.refuse(Refusal.MEMORY, node, scope)
        if not any(holds_state(value) for value in args.values()):
            return TEXT if member.name in STRING_METHODS else PLAIN
        if member.name in STRING_METHODS:
            self.refuse(Refusal.TEXT, node, scope)
        if member.name in MUTATING_METHODS:
            self.refuse(Refusal.MEMORY, node, scope)
        for value in args.values():
            self.escape(value, node, scope)
        self.note_unreadable()
        return ANY

    def _call_container_method(
        self, container: NewContainer, name: str, args: CallArguments, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        arguments = join_values(*args.values())
        if name in MUTATING_METHODS:
            self.check_change(container, node, scope)
        match name:
            case "append" | "appendleft" | "insert" | "add":
                return self._put_element(container, args.positional[-1] if args.positional else args.more, node, scope)
            case "extend" | "extendleft":
                return self._put_element(
                    container, self.read_elements(args.get_positional(0), node, scope), node, scope
                )
            case "update" if container.kind == "dict":
                for value in args.positional:
                    self.merge_into(container, value, node, scope)
                container.merge_parts()
                container.rest = join_values(container.rest, *args.named.values(), args.more_named)
                container.keys = join_values(container.keys, *(lift_object(key) for key in args.named))
                return lift_object(None)
            case "update":
                return self._put_element(
                    container, self.read_elements(args.get_positional(0), node, scope), node, scope
                )
            case "setdefault":
                self.store_item(frozenset({container}), args.get_positional(0), args.get_positional(1), node, scope)
                return container.join_elements()
            case "get" | "pop" | "popleft" | "popitem":
                if holds_state(args.get_positional(0)):
                    self.refuse(Refusal.SET if container.kind == "dict" else Refusal.INDEX, node, scope)
                element = join_values(container.join_elements(), args.get_positional(1))
                if name == "get" and container.named is not None:
                    key = find_only_object(args.get_positional(0))
                    element = container.named[key.object] if key and key.object in container.named else element
                    return (
                        join_values(element, lift_object(None)) if len(args.positional) < 2 and key is None else element
                    )
                if name != "get":
                    container.merge_parts()
                return element
            case "items":
                return self._list_pairs(container)
            case "values":
                return build_container("view", rest=container.join_elements())
            case "keys":
                return build_container("view", rest=self.read_elements(frozenset({container}), node, scope))
            case "copy":
                return frozenset(
                    {NewContainer(container.kind, container.items, container.named, container.rest, container.keys)}
                )
            case "reverse" | "clear" | "rotate":
                container.merge_parts()
                return lift_object(None)
            case "sort" | "index" | "count" | "remove" | "discard":
                self._check_order(container, name, args, node, scope)
                container.merge_parts()
                return lift_object(None) if name in ("sort", "remove", "discard") else PLAIN
            case "union" | "intersection" | "difference" | "symmetric_difference":
                elements = [self.read_elements(value, node, scope) for value in args.positional]
                return build_container("set", rest=join_values(container.join_elements(), *elements))
            case "__getitem__":
                return self.read_item(frozenset({container}), args.get_positional(0), node, scope)
            case "__setitem__":
                self.store_item(frozenset({container}), args.get_positional(0), args.get_positional(1), node, scope)
                return lift_object(None)
        return ANY if holds_state(join_values(arguments, container.join_elements())) else PLAIN

    def _check_order(
        self, container: NewContainer, name: str, args: CallArguments, node: ast.AST, scope: Scope
    ) -> None:
        """Refuse to sort by state values, or to search for them."""
        compared = join_values(container.join_elements(), *args.positional)
        if name == "sort" and "key" in args.named:
            compared = self.call(args.named["key"], CallArguments([container.join_elements()]), node, scope)
        if holds_state(compared):
            self.refuse(Refusal.SORT if name == "sort" else Refusal.MEMBER, node, scope)

    def _put_element(self, container: NewContainer, value: AbstractValue, node: ast.AST, scope: Scope) -> AbstractValue:
        if container.kind == "set" and holds_state(value):
            self.refuse(Refusal.SET, node, scope)
        container.merge_parts()
        container.rest = join_values(container.rest, value)
        return lift_object(None)

    def _list_pairs(self, container: NewContainer) -> AbstractValue:
        if container.named is None:
            return build_container("view", rest=build_container("tuple", [container.keys, container.join_elements()]))
        return build_container(
            "view", [build_container("tuple", [lift_object(key), value]) for key, value in container.named.items()]
        )

    def check_arguments(self, args: CallArguments, node: ast.AST, scope: Scope) -> None:
        """Refuse to pass on a method that changes an object which existed before the call."""
        for atom in join_values(*args.values()):
            method = atom.object if isinstance(atom, KnownObject) else None
            if isinstance(method, BUILTIN_METHODS) and method.__name__ in MUTATING_METHODS:
                self.refuse(Refusal.MEMORY, node, scope)

    def call_builtin_method(
        self, method: BuiltinMethod, args: CallArguments, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        """Call a method of a constant of one of Python's own types."""
        owner, name = method.__self__, method.__name__
        for kind, pure in PURE_METHODS.items():
            if isinstance(owner, kind) and name not in pure and not _is_operator(name):
                self.refuse(Refusal.MEMORY, node, scope)
        if name in MUTATING_METHODS and not isinstance(owner, str | bytes | int | tuple | frozenset | type):
            self.refuse(Refusal.MEMORY, node, scope)
        if name in ("__setattr__", "__delattr__"):
            self.refuse(Refusal.MEMORY, node, scope)
        if any(holds_state(value) for value in args.values()):
            self._refuse_lookup(owner, method.__name__, args, node, scope)
            return join_values(args.get_positional(1), PLAIN)
        constants = [find_only_object(value) for value in args.positional]
        exact = [constant.object for constant in constants if constant is not None]
        if args.named or args.more or args.more_named or len(exact) != len(constants):
            element = self.read_elements(lift_object(owner.values()), node, scope) if isinstance(owner, dict) else PLAIN
            return TEXT if isinstance(owner, str) else join_values(element, args.get_positional(1))
        try:
            return lift_result(method(*exact))
        except Exception:  # it is raised in every engine
            return PLAIN

    def _refuse_lookup(self, owner: Any, name: str, args: CallArguments, node: ast.AST, scope: Scope) -> None:
        """Refuse state values as arguments of a constant's method, except as the default of a look-up."""
        if isinstance(owner, str | bytes):
            self.refuse(Refusal.TEXT, node, scope)
        if isinstance(owner, dict) and name == "get" and not holds_state(args.get_positional(0)):
            return
        refusal = Refusal.SET if isinstance(owner, dict | set | frozenset) else Refusal.LIBRARY
        self.refuse(Refusal.MEMBER if isinstance(owner, list | tuple) else refusal, node, scope)


def _is_operator(name: str) -> bool:
    """Tell whether a method implements an operator that changes nothing."""
    return name.startswith("__") and name not in MUTATING_METHODS


def lift_result(value: Any) -> AbstractValue:
    """Abstract the result of a constant's method: a new container belongs to the call."""
    match value:
        case list():
            return build_container("list", [lift_object(element) for element in value])
        case set():
            return build_container("set", rest=join_values(*(lift_object(element) for element in value)))
        case dict():
            return frozenset({NewContainer("dict", named={key: lift_object(entry) for key, entry in value.items()})})
    if type(value).__name__ in ("dict_items", "dict_values", "dict_keys"):
        return build_container("view", [lift_object(element) for element in value])
    return lift_object(value)
