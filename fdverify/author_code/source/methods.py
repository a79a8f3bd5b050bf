"""Methods of Python's containers and strings, and methods of which only the name is known."""

from __future__ import annotations

import ast
from types import BuiltinMethodType, MethodWrapperType
from typing import Any, TypeAlias

from fdverify.author_code.source.abstract import (
    ANY,
    PLAIN,
    TEXT,
    Known,
    Made,
    Member,
    Plain,
    Value,
    Wrapped,
    holds_state,
    join,
    known,
    made,
)
from fdverify.author_code.source.core import Args, only_known
from fdverify.author_code.source.operations import Operations
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope
from fdverify.author_code.source.tables import CHANGING, FILES, PURE, TEXTUAL

BuiltinMethod: TypeAlias = BuiltinMethodType | MethodWrapperType
BUILTIN_METHODS = (BuiltinMethodType, MethodWrapperType)


class Methods(Operations):
    def member_call(self, member: Member, args: Args, node: ast.AST, scope: Scope) -> Value:
        match member.owner:
            case Made() as container:
                return self._of_made(container, member.name, args, node, scope)
            case Wrapped() as wrapped:  # a method of a named tuple
                if member.name == "_asdict":
                    return frozenset({Made("dict", named=dict(wrapped.fields))})
                return frozenset({Wrapped(wrapped.of, {**wrapped.fields, **args.named})})
        return self._of_unknown(member, args, node, scope)

    def _of_unknown(self, member: Member, args: Args, node: ast.AST, scope: Scope) -> Value:
        if member.name in FILES and isinstance(member.owner, Plain):
            self.refuse(Refusal.WORLD, node, scope)
        self.check_given(args, node, scope)
        if member.name in CHANGING and self.lasting > 0:  # the object may have existed before the call
            self.refuse(Refusal.MEMORY, node, scope)
        if not any(holds_state(value) for value in args.values()):
            return TEXT if member.name in TEXTUAL else PLAIN
        if member.name in TEXTUAL:
            self.refuse(Refusal.TEXT, node, scope)
        if member.name in CHANGING:
            self.refuse(Refusal.MEMORY, node, scope)
        for value in args.values():
            self.escape(value, node, scope)
        self.note_unreadable()
        return ANY

    def _of_made(self, container: Made, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
        arguments = join(*args.values())
        if name in CHANGING:
            self.check_change(container, node, scope)
        match name:
            case "append" | "appendleft" | "insert" | "add":
                return self._put(container, args.positional[-1] if args.positional else args.more, node, scope)
            case "extend" | "extendleft":
                return self._put(container, self.elements(args.at(0), node, scope), node, scope)
            case "update" if container.kind == "dict":
                for value in args.positional:
                    self.merge_into(container, value, node, scope)
                container.forget_order()
                container.rest = join(container.rest, *args.named.values(), args.more_named)
                container.keys = join(container.keys, *(known(key) for key in args.named))
                return known(None)
            case "update":
                return self._put(container, self.elements(args.at(0), node, scope), node, scope)
            case "setdefault":
                self.store_item(frozenset({container}), args.at(0), args.at(1), node, scope)
                return container.elements()
            case "get" | "pop" | "popleft" | "popitem":
                if holds_state(args.at(0)):
                    self.refuse(Refusal.SET if container.kind == "dict" else Refusal.INDEX, node, scope)
                element = join(container.elements(), args.at(1))
                if name == "get" and container.named is not None:
                    key = only_known(args.at(0))
                    element = container.named[key.object] if key and key.object in container.named else element
                    return join(element, known(None)) if len(args.positional) < 2 and key is None else element
                if name != "get":
                    container.forget_order()
                return element
            case "items":
                return self._pairs(container)
            case "values":
                return made("view", rest=container.elements())
            case "keys":
                return made("view", rest=self.elements(frozenset({container}), node, scope))
            case "copy":
                return frozenset(
                    {Made(container.kind, container.items, container.named, container.rest, container.keys)}
                )
            case "reverse" | "clear" | "rotate":
                container.forget_order()
                return known(None)
            case "sort" | "index" | "count" | "remove" | "discard":
                self._check_order(container, name, args, node, scope)
                container.forget_order()
                return known(None) if name in ("sort", "remove", "discard") else PLAIN
            case "union" | "intersection" | "difference" | "symmetric_difference":
                elements = [self.elements(value, node, scope) for value in args.positional]
                return made("set", rest=join(container.elements(), *elements))
            case "__getitem__":
                return self.item(frozenset({container}), args.at(0), node, scope)
            case "__setitem__":
                self.store_item(frozenset({container}), args.at(0), args.at(1), node, scope)
                return known(None)
        return ANY if holds_state(join(arguments, container.elements())) else PLAIN

    def _check_order(self, container: Made, name: str, args: Args, node: ast.AST, scope: Scope) -> None:
        """Refuse to sort by state values, or to search for them."""
        compared = join(container.elements(), *args.positional)
        if name == "sort" and "key" in args.named:
            compared = self.call(args.named["key"], Args([container.elements()]), node, scope)
        if holds_state(compared):
            self.refuse(Refusal.SORT if name == "sort" else Refusal.MEMBER, node, scope)

    def _put(self, container: Made, value: Value, node: ast.AST, scope: Scope) -> Value:
        if container.kind == "set" and holds_state(value):
            self.refuse(Refusal.SET, node, scope)
        container.forget_order()
        container.rest = join(container.rest, value)
        return known(None)

    def _pairs(self, container: Made) -> Value:
        if container.named is None:
            return made("view", rest=made("tuple", [container.keys, container.elements()]))
        return made("view", [made("tuple", [known(key), value]) for key, value in container.named.items()])

    def check_given(self, args: Args, node: ast.AST, scope: Scope) -> None:
        """Refuse to pass on a method that changes an object which existed before the call."""
        for atom in join(*args.values()):
            method = atom.object if isinstance(atom, Known) else None
            if isinstance(method, BUILTIN_METHODS) and method.__name__ in CHANGING:
                self.refuse(Refusal.MEMORY, node, scope)

    def builtin_method_call(self, method: BuiltinMethod, args: Args, node: ast.AST, scope: Scope) -> Value:
        """Call a method of a constant of one of Python's own types."""
        owner, name = method.__self__, method.__name__
        for kind, pure in PURE.items():
            if isinstance(owner, kind) and name not in pure and not _is_operator(name):
                self.refuse(Refusal.MEMORY, node, scope)
        if name in CHANGING and not isinstance(owner, str | bytes | int | tuple | frozenset | type):
            self.refuse(Refusal.MEMORY, node, scope)
        if name in ("__setattr__", "__delattr__"):
            self.refuse(Refusal.MEMORY, node, scope)
        if any(holds_state(value) for value in args.values()):
            self._refuse_lookup(owner, method.__name__, args, node, scope)
            return join(args.at(1), PLAIN)
        constants = [only_known(value) for value in args.positional]
        exact = [constant.object for constant in constants if constant is not None]
        if args.named or args.more or args.more_named or len(exact) != len(constants):
            element = self.elements(known(owner.values()), node, scope) if isinstance(owner, dict) else PLAIN
            return TEXT if isinstance(owner, str) else join(element, args.at(1))
        try:
            return freshly_made(method(*exact))
        except Exception:  # it is raised in every engine
            return PLAIN

    def _refuse_lookup(self, owner: Any, name: str, args: Args, node: ast.AST, scope: Scope) -> None:
        """Refuse state values as arguments of a constant's method, except as the default of a look-up."""
        if isinstance(owner, str | bytes):
            self.refuse(Refusal.TEXT, node, scope)
        if isinstance(owner, dict) and name == "get" and not holds_state(args.at(0)):
            return
        refusal = Refusal.SET if isinstance(owner, dict | set | frozenset) else Refusal.LIBRARY
        self.refuse(Refusal.MEMBER if isinstance(owner, list | tuple) else refusal, node, scope)


def _is_operator(name: str) -> bool:
    """Tell whether a method implements an operator that changes nothing."""
    return name.startswith("__") and name not in CHANGING


def freshly_made(value: Any) -> Value:
    """Abstract the result of a constant's method: a new container belongs to the call."""
    match value:
        case list():
            return made("list", [known(element) for element in value])
        case set():
            return made("set", rest=join(*(known(element) for element in value)))
        case dict():
            return frozenset({Made("dict", named={key: known(entry) for key, entry in value.items()})})
    if type(value).__name__ in ("dict_items", "dict_values", "dict_keys"):
        return made("view", [known(element) for element in value])
    return known(value)
