"""Calls: which function is called, and what it returns."""

from __future__ import annotations

import ast
import functools
import operator
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import (
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from fdverify import logic
from fdverify.author_code.source.abstract import (
    ANY,
    NOTHING,
    PLAIN,
    VALUE,
    Answering,
    Atom,
    BoundTo,
    Known,
    LocalFunction,
    Made,
    Member,
    OfState,
    PartOf,
    Value,
    Wrapped,
    holds_state,
    join,
    known,
    made,
    parts_of,
)
from fdverify.author_code.source.classes import Classes
from fdverify.author_code.source.core import Args, authors_method, is_of_package, is_worldly, module_of
from fdverify.author_code.source.methods import BUILTIN_METHODS
from fdverify.author_code.source.operations import has_fraction
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope
from fdverify.author_code.source.sources import Owner, owner_of

_CONNECTIVES = {logic.And, logic.Or, logic.Not, logic.Implies, logic.Iff, logic.Min, logic.Max}
CACHES = (type(functools.lru_cache(lambda: None)),)
_GETTERS = (operator.attrgetter, operator.itemgetter, operator.methodcaller)


class Calls(Classes):
    def call(self, function: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
        return join(*(self._call_of(atom, args, node, scope) for atom in function))

    def _call_of(self, atom: Atom, args: Args, node: ast.AST, scope: Scope) -> Value:
        match atom:
            case Known(value):
                return self._call_known(value, args, node, scope)
            case OfState():
                self._give_away(args, node, scope)
                return ANY
            case LocalFunction():
                return self.run_closure(atom, args, node, scope)
            case BoundTo(method, receiver):
                bound = Args([receiver, *args.positional], args.named, args.more, args.more_named)
                return self.call(method, bound, node, scope)
            case PartOf(part, first, named):
                whole = Args([*first, *args.positional], {**named, **args.named}, args.more, args.more_named)
                return self.call(part, whole, node, scope)
            case Answering(value):
                return value
            case Member():
                return self.member_call(atom, args, node, scope)
            case Wrapped() if authors_method(atom.of, "__call__"):
                return self.call(self.attribute(frozenset({atom}), "__call__", node, scope), args, node, scope)
        return self._call_unknown(args, node, scope)

    def _call_unknown(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        self.check_given(args, node, scope)
        if not any(holds_state(value) for value in args.values()):
            return PLAIN
        self._give_away(args, node, scope)
        self.note_unreadable()
        return ANY

    def _call_known(self, value: Any, args: Args, node: ast.AST, scope: Scope) -> Value:
        match value:
            case FunctionType():
                return self._call_function(value, args, node, scope)
            case MethodType():
                bound = Args([known(value.__self__), *args.positional], args.named, args.more, args.more_named)
                return self._call_known(value.__func__, bound, node, scope)
            case functools.partial():
                named = {name: known(part) for name, part in value.keywords.items()}
                first = [known(part) for part in value.args]
                whole = Args([*first, *args.positional], {**named, **args.named}, args.more, args.more_named)
                return self._call_known(value.func, whole, node, scope)
        if isinstance(value, CACHES):
            if any(holds_state(argument) for argument in args.values()):
                self.refuse(Refusal.CACHE, node, scope)
            return self._call_known(value.__wrapped__, args, node, scope)
        result = self.library_call(value, args, node, scope)
        if result is not None:
            return result
        if isinstance(value, _GETTERS):
            return self._call_getter(value, args, node, scope)
        if is_worldly(value) and not isinstance(value, type):
            self.refuse(Refusal.WORLD, node, scope)
        if isinstance(value, type):
            return self._call_class(value, args, node, scope)
        if isinstance(value, BUILTIN_METHODS) and not isinstance(value.__self__, ModuleType | None):
            return self.builtin_method_call(value, args, node, scope)
        if isinstance(value, MethodDescriptorType | WrapperDescriptorType) and args.positional:  # such as list.append
            method = self.attribute(args.at(0), value.__name__, node, scope)
            return self.call(method, replace(args, positional=args.positional[1:]), node, scope)
        own = authors_method(type(value), "__call__")
        if own is not None:
            bound = Args([known(value), *args.positional], args.named, args.more, args.more_named)
            return self.call(known(own), bound, node, scope)
        return self._call_foreign(value, args, node, scope)

    def _call_getter(self, getter: Any, args: Args, node: ast.AST, scope: Scope) -> Value:
        kind, parts = getter.__reduce__()[:2]
        results: list[Value] = []
        if isinstance(getter, operator.methodcaller):
            # One with keyword arguments is pickled as a functools.partial.
            named = kind.keywords if isinstance(kind, functools.partial) else {}
            name, *values = (*kind.args, *parts) if isinstance(kind, functools.partial) else parts
            whole = Args([known(part) for part in values], {key: known(part) for key, part in named.items()})
            return self.call(self.attribute(args.at(0), name, node, scope), whole, node, scope)
        for part in parts:
            if kind is operator.itemgetter:
                results.append(self.item(args.at(0), known(part), node, scope))
                continue
            value = args.at(0)
            for name in str(part).split("."):
                value = self.attribute(value, name, node, scope)
            results.append(value)
        return results[0] if len(results) == 1 else made("tuple", results)

    def _call_class(self, value: type, args: Args, node: ast.AST, scope: Scope) -> Value:
        if is_of_package(value):
            return self._call_trusted(value, args, node, scope)
        module = value.__module__
        if is_worldly(value):
            self.refuse(Refusal.WORLD, node, scope)
        if module == "builtins" or module.partition(".")[0] in _FOREIGN or _is_standard(module):
            if issubclass(value, BaseException):
                return PLAIN
            result = self._call_foreign(value, args, node, scope)
            return made("iterator", rest=PLAIN) if issubclass(value, Iterator) else result
        return self.made_of(value, args, node, scope)

    def _call_function(self, function: FunctionType, args: Args, node: ast.AST, scope: Scope) -> Value:
        file = function.__code__.co_filename
        match owner_of(file):
            case Owner.PACKAGE:
                return self._call_trusted(function, args, node, scope)
            case Owner.STANDARD:
                wrapped = getattr(function, "__wrapped__", None)
                if isinstance(wrapped, FunctionType):  # such as a context manager
                    self.call(known(wrapped), args, node, scope)
                result = self.library_call(function, args, node, scope)
                return self._call_foreign(function, args, node, scope) if result is None else result
            case Owner.INSTALLED if module_of(function).partition(".")[0] in _FOREIGN:
                return self._call_foreign(function, args, node, scope)
        return self.run_function(function, args, node, scope)

    def _call_foreign(self, value: Any, args: Args, node: ast.AST, scope: Scope) -> Value:
        """Call a library function that is not modelled here."""
        if is_of_package(value):
            return self._call_trusted(value, args, node, scope)
        if is_worldly(value):
            self.refuse(Refusal.WORLD, node, scope)
        if any(holds_state(argument) for argument in args.values()):
            self.refuse(Refusal.LIBRARY, node, scope)
        if "out" in args.named:
            self.refuse(Refusal.MEMORY, node, scope)
        self.check_given(args, node, scope)
        return PLAIN

    def _call_trusted(self, value: Any, args: Args, node: ast.AST, scope: Scope) -> Value:
        """Call a function of this package: it treats all values alike, and calls the functions it is passed."""
        self._give_away(args, node, scope)
        for function in reachable(value):
            self.escape(known(function), node, scope)
        has_state = any(holds_state(argument) for argument in args.values())
        if has_state and module_of(value) == logic.__name__ and any(map(has_fraction, args.values())):
            self.refuse(Refusal.FRACTION, node, scope)
        if value in _CONNECTIVES:
            return VALUE if has_state else PLAIN
        if value is logic.If:
            return self._chosen(args)
        return ANY if has_state else PLAIN

    def _chosen(self, args: Args) -> Value:
        """Return the result of ``If``: a state value, but of any kind if a branch is a container or an object."""
        arguments = join(*args.values())
        if not holds_state(arguments):
            return PLAIN
        branches = join(args.at(1), args.at(2))
        return VALUE if all(not isinstance(atom, Made | Wrapped) for atom in branches) else ANY

    def _give_away(self, args: Args, node: ast.AST, scope: Scope) -> None:
        for value in args.values():
            self.escape(value, node, scope)

    def escape(self, value: Value, node: ast.AST, scope: Scope) -> None:
        with self.handing_out():
            self._escape(value, node, scope, set())

    def _escape(self, value: Value, node: ast.AST, scope: Scope, seen: set[int]) -> None:
        for atom in value:
            if id(atom) in seen:
                continue
            seen.add(id(atom))
            match atom:
                case LocalFunction():
                    atom.scope.escaped.append(atom)
                    self.run_closure(atom, given_away(atom.node, len(atom.defaults)), node, scope)
                case Known(FunctionType() | MethodType() | functools.partial() as function):
                    self.read_any(function, node, scope)
                case PartOf():
                    self.call(atom.function, Args([*atom.args], dict(atom.named), more=ANY), node, scope)
                case BoundTo():
                    self.call(atom.function, Args([atom.receiver], more=ANY), node, scope)
                case Made() | Wrapped():
                    if isinstance(atom, Wrapped) and authors_method(atom.of, "__call__"):
                        self.call(frozenset({atom}), Args(more=ANY), node, scope)
                    for part in parts_of(atom):
                        self._escape(part, node, scope, seen)

    def read_any(self, function: Any, node: ast.AST, scope: Scope) -> None:
        """Read an author's function as if it were called with any arguments."""
        inner, first = unbound(function)
        if inner is None:
            return
        if is_of_package(inner):
            for author_function in reachable(function):
                self.read_any(author_function, node, scope)
        elif owner_of(inner.__code__.co_filename) in (Owner.AUTHOR, Owner.INSTALLED):
            required = inner.__code__.co_argcount - len(inner.__defaults__ or ()) - len(first)
            self.run_function(inner, Args([*first, *[ANY] * required]), node, scope)

    def run_closure(self, closure: LocalFunction, args: Args, node: ast.AST, scope: Scope) -> Value:
        raise NotImplementedError

    def run_function(self, function: FunctionType, args: Args, node: ast.AST, scope: Scope) -> Value:
        raise NotImplementedError


_FOREIGN = frozenset({"numpy", "z3", "sympy", "pandas", "scipy", "networkx", "rich", "msgspec", "hypothesis", "torch"})
"""Libraries whose functions are not read, since they are not written for symbols."""


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def given_away(node: ast.FunctionDef | ast.Lambda, defaults: int) -> Args:
    """Build arguments for a function that is called elsewhere: any value for each required parameter."""
    required = len(node.args.posonlyargs) + len(node.args.args) - defaults
    named = {
        arg.arg: ANY
        for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is None
    }
    return Args([ANY] * required, named, more=ANY if node.args.vararg else NOTHING)


def unbound(function: Any) -> tuple[FunctionType | None, list[Value]]:
    """Return the underlying function, and the arguments that are already bound."""
    first: list[Value] = []
    while True:
        match function:
            case FunctionType():
                return function, first
            case MethodType():
                function, first = function.__func__, [known(function.__self__), *first]
            case functools.partial():
                function, first = function.func, [*(known(part) for part in function.args), *first]
            case _:
                own = authors_method(type(function), "__call__")
                if own is None:
                    return None, first
                function, first = own, [known(function), *first]


def reachable(value: Any) -> list[Any]:
    """Find the authors' functions that a function of this package holds, in its closure or its receiver."""
    functions: list[Any] = []
    seen: set[int] = set()
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        held, depth = waiting.pop()
        if id(held) in seen or depth > _DEEP:
            continue
        seen.add(id(held))
        if isinstance(held, FunctionType) and not is_of_package(held):
            functions.append(held)
        elif isinstance(held, FunctionType):
            waiting += [(cell.cell_contents, depth + 1) for cell in held.__closure__ or () if is_filled(cell)]
        elif isinstance(held, MethodType) and not is_of_package(held.__func__):
            functions.append(held)
        elif isinstance(held, MethodType):
            waiting += [(held.__func__, depth), (held.__self__, depth + 1)]
        elif isinstance(held, functools.partial):
            waiting += [(part, depth + 1) for part in (held.func, *held.args, *held.keywords.values())]
        elif type(held).__module__.startswith("fdverify.") and type(held).__name__ != "Model":
            waiting += [(part, depth + 1) for part in getattr(held, "__dict__", {}).values()]
        elif isinstance(held, tuple | list) and depth < _DEEP:
            waiting += [(part, depth + 1) for part in held]
    return functions


_DEEP = 8


def is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
