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
from fdverify.author_code.source.abstract_values import (
    ANY,
    NOTHING,
    PLAIN,
    VALUE,
    AbstractAtom,
    AbstractValue,
    BoundFunction,
    ConstantFunction,
    KnownObject,
    LocalFunction,
    NamedMethod,
    NewContainer,
    NewObject,
    PartialFunction,
    StateDependent,
    build_container,
    holds_state,
    join_values,
    lift_object,
    list_parts,
)
from fdverify.author_code.source.class_reader import ClassReader
from fdverify.author_code.source.method_reader import BUILTIN_METHODS
from fdverify.author_code.source.operator_reader import has_fraction
from fdverify.author_code.source.reader_base import (
    CallArguments,
    find_author_method,
    find_module_name,
    is_impure,
    is_of_package,
)
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope
from fdverify.author_code.source.source_files import FileOwner, find_owner

_CONNECTIVES = {logic.And, logic.Or, logic.Not, logic.Implies, logic.Iff, logic.Min, logic.Max}
CACHES = (type(functools.lru_cache(lambda: None)),)
_GETTERS = (operator.attrgetter, operator.itemgetter, operator.methodcaller)


class CallReader(ClassReader):
    def call(self, function: AbstractValue, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return join_values(*(self._call_atom(atom, args, node, scope) for atom in function))

    def _call_atom(self, atom: AbstractAtom, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        match atom:
            case KnownObject(value):
                return self._call_known(value, args, node, scope)
            case StateDependent():
                self._escape_arguments(args, node, scope)
                return ANY
            case LocalFunction():
                return self.run_closure(atom, args, node, scope)
            case BoundFunction(method, receiver):
                bound = CallArguments([receiver, *args.positional], args.named, args.more, args.more_named)
                return self.call(method, bound, node, scope)
            case PartialFunction(part, first, named):
                whole = CallArguments([*first, *args.positional], {**named, **args.named}, args.more, args.more_named)
                return self.call(part, whole, node, scope)
            case ConstantFunction(value):
                return value
            case NamedMethod():
                return self.call_member(atom, args, node, scope)
            case NewObject() if find_author_method(atom.of, "__call__"):
                return self.call(self.read_attribute(frozenset({atom}), "__call__", node, scope), args, node, scope)
        return self._call_unknown(args, node, scope)

    def _call_unknown(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        self.check_arguments(args, node, scope)
        if not any(holds_state(value) for value in args.values()):
            return PLAIN
        self._escape_arguments(args, node, scope)
        self.note_unreadable()
        return ANY

    def _call_known(self, value: Any, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        match value:
            case FunctionType():
                return self._call_function(value, args, node, scope)
            case MethodType():
                bound = CallArguments(
                    [lift_object(value.__self__), *args.positional], args.named, args.more, args.more_named
                )
                return self._call_known(value.__func__, bound, node, scope)
            case functools.partial():
                named = {name: lift_object(part) for name, part in value.keywords.items()}
                first = [lift_object(part) for part in value.args]
                whole = CallArguments([*first, *args.positional], {**named, **args.named}, args.more, args.more_named)
                return self._call_known(value.func, whole, node, scope)
        if isinstance(value, CACHES):
            if any(holds_state(argument) for argument in args.values()):
                self.refuse(Refusal.CACHE, node, scope)
            return self._call_known(value.__wrapped__, args, node, scope)
        result = self.call_library(value, args, node, scope)
        if result is not None:
            return result
        if isinstance(value, _GETTERS):
            return self._call_getter(value, args, node, scope)
        if is_impure(value) and not isinstance(value, type):
            self.refuse(Refusal.WORLD, node, scope)
        if isinstance(value, type):
            return self._call_class(value, args, node, scope)
        if isinstance(value, BUILTIN_METHODS) and not isinstance(value.__self__, ModuleType | None):
            return self.call_builtin_method(value, args, node, scope)
        if isinstance(value, MethodDescriptorType | WrapperDescriptorType) and args.positional:  # such as list.append
            method = self.read_attribute(args.get_positional(0), value.__name__, node, scope)
            return self.call(method, replace(args, positional=args.positional[1:]), node, scope)
        own = find_author_method(type(value), "__call__")
        if own is not None:
            bound = CallArguments([lift_object(value), *args.positional], args.named, args.more, args.more_named)
            return self.call(lift_object(own), bound, node, scope)
        return self._call_foreign(value, args, node, scope)

    def _call_getter(self, getter: Any, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        kind, parts = getter.__reduce__()[:2]
        results: list[AbstractValue] = []
        if isinstance(getter, operator.methodcaller):
            # One with keyword arguments is pickled as a functools.partial.
            named = kind.keywords if isinstance(kind, functools.partial) else {}
            name, *values = (*kind.args, *parts) if isinstance(kind, functools.partial) else parts
            whole = CallArguments(
                [lift_object(part) for part in values], {key: lift_object(part) for key, part in named.items()}
            )
            return self.call(self.read_attribute(args.get_positional(0), name, node, scope), whole, node, scope)
        for part in parts:
            if kind is operator.itemgetter:
                results.append(self.read_item(args.get_positional(0), lift_object(part), node, scope))
                continue
            value = args.get_positional(0)
            for name in str(part).split("."):
                value = self.read_attribute(value, name, node, scope)
            results.append(value)
        return results[0] if len(results) == 1 else build_container("tuple", results)

    def _call_class(self, value: type, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        if is_of_package(value):
            return self._call_trusted(value, args, node, scope)
        module = value.__module__
        if is_impure(value):
            self.refuse(Refusal.WORLD, node, scope)
        if module == "builtins" or module.partition(".")[0] in _FOREIGN or _is_standard_module(module):
            if issubclass(value, BaseException):
                return PLAIN
            result = self._call_foreign(value, args, node, scope)
            return build_container("iterator", rest=PLAIN) if issubclass(value, Iterator) else result
        return self.instantiate_class(value, args, node, scope)

    def _call_function(self, function: FunctionType, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        file = function.__code__.co_filename
        match find_owner(file):
            case FileOwner.PACKAGE:
                return self._call_trusted(function, args, node, scope)
            case FileOwner.STANDARD:
                wrapped = getattr(function, "__wrapped__", None)
                if isinstance(wrapped, FunctionType):  # such as a context manager
                    self.call(lift_object(wrapped), args, node, scope)
                result = self.call_library(function, args, node, scope)
                return self._call_foreign(function, args, node, scope) if result is None else result
            case FileOwner.INSTALLED if find_module_name(function).partition(".")[0] in _FOREIGN:
                return self._call_foreign(function, args, node, scope)
        return self.run_function(function, args, node, scope)

    def _call_foreign(self, value: Any, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        """Call a library function that is not modelled here."""
        if is_of_package(value):
            return self._call_trusted(value, args, node, scope)
        if is_impure(value):
            self.refuse(Refusal.WORLD, node, scope)
        if any(holds_state(argument) for argument in args.values()):
            self.refuse(Refusal.LIBRARY, node, scope)
        if "out" in args.named:
            self.refuse(Refusal.MEMORY, node, scope)
        self.check_arguments(args, node, scope)
        return PLAIN

    def _call_trusted(self, value: Any, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        """Call a function of this package: it treats all values alike, and calls the functions it is passed."""
        self._escape_arguments(args, node, scope)
        for function in find_author_functions(value):
            self.escape(lift_object(function), node, scope)
        has_state = any(holds_state(argument) for argument in args.values())
        if has_state and find_module_name(value) == logic.__name__ and any(map(has_fraction, args.values())):
            self.refuse(Refusal.FRACTION, node, scope)
        if value in _CONNECTIVES:
            return VALUE if has_state else PLAIN
        if value is logic.If:
            return self._call_if(args)
        return ANY if has_state else PLAIN

    def _call_if(self, args: CallArguments) -> AbstractValue:
        """Return the result of ``If``: a state value, but of any kind if a branch is a container or an object."""
        arguments = join_values(*args.values())
        if not holds_state(arguments):
            return PLAIN
        branches = join_values(args.get_positional(1), args.get_positional(2))
        return VALUE if all(not isinstance(atom, NewContainer | NewObject) for atom in branches) else ANY

    def _escape_arguments(self, args: CallArguments, node: ast.AST, scope: Scope) -> None:
        for value in args.values():
            self.escape(value, node, scope)

    def escape(self, value: AbstractValue, node: ast.AST, scope: Scope) -> None:
        with self.reading_escaped():
            self._escape_parts(value, node, scope, set())

    def _escape_parts(self, value: AbstractValue, node: ast.AST, scope: Scope, seen: set[int]) -> None:
        for atom in value:
            if id(atom) in seen:
                continue
            seen.add(id(atom))
            match atom:
                case LocalFunction():
                    atom.scope.escaped.append(atom)
                    self.run_closure(atom, build_any_arguments(atom.node, len(atom.defaults)), node, scope)
                case KnownObject(FunctionType() | MethodType() | functools.partial() as function):
                    self.read_with_any_arguments(function, node, scope)
                case PartialFunction():
                    self.call(atom.function, CallArguments([*atom.args], dict(atom.named), more=ANY), node, scope)
                case BoundFunction():
                    self.call(atom.function, CallArguments([atom.receiver], more=ANY), node, scope)
                case NewContainer() | NewObject():
                    if isinstance(atom, NewObject) and find_author_method(atom.of, "__call__"):
                        self.call(frozenset({atom}), CallArguments(more=ANY), node, scope)
                    for part in list_parts(atom):
                        self._escape_parts(part, node, scope, seen)

    def read_with_any_arguments(self, function: Any, node: ast.AST, scope: Scope) -> None:
        """Read an author's function as if it were called with any arguments."""
        inner, first = unbind_function(function)
        if inner is None:
            return
        if is_of_package(inner):
            for author_function in find_author_functions(function):
                self.read_with_any_arguments(author_function, node, scope)
        elif find_owner(inner.__code__.co_filename) in (FileOwner.AUTHOR, FileOwner.INSTALLED):
            required = inner.__code__.co_argcount - len(inner.__defaults__ or ()) - len(first)
            self.run_function(inner, CallArguments([*first, *[ANY] * required]), node, scope)

    def run_closure(self, closure: LocalFunction, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        raise NotImplementedError

    def run_function(self, function: FunctionType, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        raise NotImplementedError


_FOREIGN = frozenset({"numpy", "z3", "sympy", "pandas", "scipy", "networkx", "rich", "msgspec", "hypothesis", "torch"})
"""Libraries whose functions are not read, since they are not written for symbols."""


def _is_standard_module(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def build_any_arguments(node: ast.FunctionDef | ast.Lambda, defaults: int) -> CallArguments:
    """Build arguments for a function that is called elsewhere: any value for each required parameter."""
    required = len(node.args.posonlyargs) + len(node.args.args) - defaults
    named = {
        arg.arg: ANY
        for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is None
    }
    return CallArguments([ANY] * required, named, more=ANY if node.args.vararg else NOTHING)


def unbind_function(function: Any) -> tuple[FunctionType | None, list[AbstractValue]]:
    """Return the underlying function, and the arguments that are already bound."""
    first: list[AbstractValue] = []
    while True:
        match function:
            case FunctionType():
                return function, first
            case MethodType():
                function, first = function.__func__, [lift_object(function.__self__), *first]
            case functools.partial():
                function, first = function.func, [*(lift_object(part) for part in function.args), *first]
            case _:
                own = find_author_method(type(function), "__call__")
                if own is None:
                    return None, first
                function, first = own, [lift_object(function), *first]


def find_author_functions(value: Any) -> list[Any]:
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
