"""Models of Python's built-in functions and of library functions, as far as authors may use them."""

from __future__ import annotations

import ast
import collections
import copy
import dataclasses
import functools
import itertools
import math
import operator
import types
import typing
from collections.abc import Callable
from typing import Any

from fdverify.author_code.source.abstract_values import (
    ANY,
    PLAIN,
    TEXT,
    VALUE,
    AbstractValue,
    LocalFunction,
    NewContainer,
    NewObject,
    PartialFunction,
    StateDependent,
    StateIndependent,
    SuperProxy,
    build_container,
    holds_state,
    is_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.iteration_reader import IterationReader
from fdverify.author_code.source.library_tables import (
    ALWAYS_REFUSED,
    AUGMENTED_FUNCTIONS,
    COMPARISON_FUNCTIONS,
    COMPUTED_ON_CONSTANTS,
    CONTAINER_TYPES,
    MUTATING_FUNCTIONS,
    OPERATOR_FUNCTIONS,
    REFUSED_FOR_HOLDERS,
    REFUSED_FOR_STATE_VALUES,
)
from fdverify.author_code.source.reader_base import CallArguments, find_only_object
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope

Handler = Callable[["LibraryReader", CallArguments, ast.AST, Scope], AbstractValue]


class LibraryReader(IterationReader):
    def call_library(self, function: Any, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue | None:
        """Call a function of Python or its library; return ``None`` if it is not modelled here."""
        try:
            refusal = REFUSED_FOR_STATE_VALUES.get(function)
        except TypeError:  # it cannot be hashed
            return None
        if refusal is not None and any(is_state(value) for value in args.values()):
            self.refuse(refusal, node, scope)
        refusal = REFUSED_FOR_HOLDERS.get(function)
        if refusal is not None and any(holds_state(value) for value in args.values()):
            self.refuse(refusal, node, scope)
        if function in ALWAYS_REFUSED or (function in (vars, dir) and not args.positional):
            self.refuse(Refusal.WORLD, node, scope)
        if function in MUTATING_FUNCTIONS:
            self._check_changed_argument(args.get_positional(0), node, scope)
        if function in AUGMENTED_FUNCTIONS:
            return self.apply_augmented_operator(
                AUGMENTED_FUNCTIONS[function](), args.get_positional(0), args.get_positional(1), node, scope
            )
        if (
            function is type
            and len(args.positional) == 1
            and all(isinstance(atom, NewObject) for atom in args.get_positional(0))
        ):
            return join_values(
                *(lift_object(atom.of) for atom in args.get_positional(0) if isinstance(atom, NewObject))
            )
        if function is isinstance and len(args.positional) == 2:
            return self._call_isinstance(args)
        if function in COMPUTED_ON_CONSTANTS:
            return self._call_on_constants(function, args)
        if function in OPERATOR_FUNCTIONS:
            return self.apply_operator(
                OPERATOR_FUNCTIONS[function](), args.get_positional(0), args.get_positional(1), node, scope
            )
        if function in COMPARISON_FUNCTIONS:
            return self.apply_comparison(
                COMPARISON_FUNCTIONS[function](), args.get_positional(0), args.get_positional(1), node, scope
            )
        handler = _HANDLERS.get(function)
        return None if handler is None else handler(self, args, node, scope)

    def _check_changed_argument(self, value: AbstractValue, node: ast.AST, scope: Scope) -> None:
        for atom in value:
            if not isinstance(atom, NewContainer):
                self.refuse(Refusal.MEMORY, node, scope)
            self.check_change(atom, node, scope)
            atom.merge_parts()

    def _call_isinstance(self, args: CallArguments) -> AbstractValue:
        values, expected = args.positional[0], find_only_object(args.positional[1])
        exact = [atom for atom in values if isinstance(atom, NewContainer | NewObject)]
        if expected is None or len(exact) != len(values) or len(values) != 1:
            return self._call_on_constants(isinstance, args)
        atom = exact[0]
        kind = CONTAINER_TYPES.get(atom.kind) if isinstance(atom, NewContainer) else atom.of
        try:
            return PLAIN if kind is None else lift_object(issubclass(kind, expected.object))
        except TypeError:
            return PLAIN

    def _call_on_constants(self, function: Any, args: CallArguments) -> AbstractValue:
        constants = [find_only_object(value) for value in (*args.positional, *args.named.values())]
        exact = [constant.object for constant in constants if constant is not None]
        if args.more or args.more_named or len(exact) != len(constants):
            return TEXT if function in (str, repr, format) else PLAIN
        named = dict(zip(args.named, exact[len(args.positional) :], strict=True))
        if function is len and isinstance(exact[0], list | dict | set):  # the length of a mutable object may change
            return PLAIN
        try:
            return lift_object(function(*exact[: len(args.positional)], **named))
        except Exception:  # it is raised in every engine
            return PLAIN

    def _call_dict(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        result = NewContainer("dict", named={})
        for value in args.positional:
            self.merge_into(result, value, node, scope)
        result.merge_parts() if args.positional else None
        for name, value in args.named.items():
            result.rest, result.keys = join_values(result.rest, value), join_values(result.keys, lift_object(name))
        result.rest = join_values(result.rest, args.more_named)
        return frozenset({result})

    def _call_next(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        if self.lasting > 0 and any(isinstance(atom, StateIndependent) for atom in args.get_positional(0)):
            self.refuse(Refusal.MEMORY, node, scope)  # it may have existed before the call
        return join_values(self.read_elements(args.get_positional(0), node, scope), args.get_positional(1))

    def _call_getattr(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        base, name = args.get_positional(0), find_only_object(args.get_positional(1))
        if is_state(base) and len(args.positional) != 2:
            self.refuse(Refusal.DEFAULT, node, scope)
        if holds_state(args.get_positional(1)):
            self.refuse(Refusal.TEXT, node, scope)
        if name is not None and isinstance(name.object, str):
            return join_values(self.read_attribute(base, name.object, node, scope), args.get_positional(2))
        return ANY if holds_state(base) else PLAIN

    def _call_setattr(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        name = find_only_object(args.get_positional(1))
        self.store_attribute(
            args.get_positional(0), str(name.object) if name else "?", args.get_positional(2), node, scope
        )
        return lift_object(None)

    def _call_setitem(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        self.store_item(args.get_positional(0), args.get_positional(1), args.get_positional(2), node, scope)
        return lift_object(None)

    def _call_super(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        if args.positional:
            above, receiver = find_only_object(args.get_positional(0)), args.get_positional(1)
        else:
            above, receiver = find_only_object(scope.look_up("__class__")), scope.look_up(find_first_parameter(scope))
        return PLAIN if above is None else frozenset({SuperProxy(above.object, receiver)})

    def _call_partial(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return frozenset({PartialFunction(args.get_positional(0), tuple(args.positional[1:]), dict(args.named))})

    def _call_replace(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        changes = join_values(*args.named.values(), args.more_named)
        results: list[AbstractValue] = []
        for atom in args.get_positional(0):
            if isinstance(atom, NewObject):
                if holds_state(changes):
                    self.check_wrapper_class(atom.of, node, scope)
                results.append(frozenset({NewObject(atom.of, {**atom.fields, **args.named})}))
            else:
                self.escape(changes, node, scope)
                results.append(ANY if isinstance(atom, StateDependent) or holds_state(changes) else PLAIN)
        return join_values(*results)

    def _call_namespace(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return frozenset({NewObject(types.SimpleNamespace, dict(args.named))})

    def _call_cast(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return args.get_positional(1)

    def _check_counts(self, args: CallArguments, node: ast.AST, scope: Scope) -> CallArguments:
        """Return the first argument only; refuse state values in the others, which are counts."""
        if any(holds_state(value) for value in (*args.positional[1:], *args.named.values())):
            self.refuse(Refusal.INDEX, node, scope)
        return CallArguments(args.positional[:1])

    def _call_update_wrapper(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return args.get_positional(0)

    def _call_wraps(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return lift_object(functools.update_wrapper)

    def _call_cache(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        """Ignore a cache that is created in a call, since it does not outlive the call."""
        return (
            args.get_positional(0)
            if any(isinstance(atom, LocalFunction) for atom in args.get_positional(0))
            else lift_object(functools.update_wrapper)
        )

    def _call_copy(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        if is_state(args.get_positional(0)):
            self.refuse(Refusal.LIBRARY, node, scope)
        copies = [
            NewContainer(a.kind, a.items, a.named, a.rest, a.keys) if isinstance(a, NewContainer) else a
            for a in args.get_positional(0)
        ]
        return frozenset(copies)

    def _call_neg(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return VALUE if is_state(args.get_positional(0)) else PLAIN

    def _call_getitem(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return self.read_item(args.get_positional(0), args.get_positional(1), node, scope)


def find_first_parameter(scope: Scope) -> str:
    """Return the name of the first parameter of the enclosing method."""
    outer = scope
    while outer.parent is not None and "__class__" not in outer.cells:
        outer = outer.parent
    return next(iter(outer.ever), "")


_HANDLERS: dict[Any, Handler] = {
    list: lambda reader, *call: reader.build_sequence("list", *call),
    tuple: lambda reader, *call: reader.build_sequence("tuple", *call),
    set: lambda reader, *call: reader.build_set(*call),
    frozenset: lambda reader, *call: reader.build_set(*call),
    iter: lambda reader, *call: reader.build_sequence("iterator", *call),
    reversed: lambda reader, args, *call: build_container(
        "iterator", rest=reader.read_elements(args.get_positional(0), *call)
    ),
    sorted: lambda reader, *call: build_container("list", rest=reader.call_sorted(*call)),
    min: LibraryReader.call_sorted,
    max: LibraryReader.call_sorted,
    sum: LibraryReader.call_sum,
    math.prod: LibraryReader.call_prod,
    dict: LibraryReader._call_dict,
    collections.OrderedDict: LibraryReader._call_dict,
    collections.defaultdict: lambda reader, args, *call: reader._call_dict(
        CallArguments(args.positional[1:], args.named), *call
    ),
    collections.deque: lambda reader, *call: reader.build_sequence("list", *call),
    types.MappingProxyType: LibraryReader._call_dict,
    types.SimpleNamespace: LibraryReader._call_namespace,
    zip: LibraryReader.call_zip,
    itertools.zip_longest: LibraryReader.combine_elements,
    enumerate: LibraryReader.call_enumerate,
    map: LibraryReader.call_map,
    filter: LibraryReader.call_filter,
    next: LibraryReader._call_next,
    getattr: LibraryReader._call_getattr,
    setattr: LibraryReader._call_setattr,
    object.__setattr__: LibraryReader._call_setattr,
    delattr: LibraryReader._call_setattr,
    super: LibraryReader._call_super,
    functools.partial: LibraryReader._call_partial,
    functools.reduce: LibraryReader.call_reduce,
    functools.wraps: LibraryReader._call_wraps,
    functools.update_wrapper: LibraryReader._call_update_wrapper,
    functools.cache: LibraryReader._call_cache,
    functools.lru_cache: LibraryReader._call_cache,
    itertools.chain: LibraryReader.chain_elements,
    itertools.chain.from_iterable: lambda reader, args, *call: reader.chain_elements(
        CallArguments([reader.read_elements(args.get_positional(0), *call)]), *call
    ),
    itertools.islice: lambda reader, *call: reader.chain_elements(reader._check_counts(*call), *call[1:]),
    itertools.cycle: LibraryReader.chain_elements,
    itertools.repeat: lambda reader, *call: build_container(
        "iterator", rest=reader._check_counts(*call).get_positional(0)
    ),
    itertools.product: LibraryReader.combine_elements,
    itertools.pairwise: LibraryReader.combine_elements,
    itertools.combinations: lambda reader, *call: reader.combine_elements(reader._check_counts(*call), *call[1:]),
    itertools.permutations: lambda reader, *call: reader.combine_elements(reader._check_counts(*call), *call[1:]),
    itertools.combinations_with_replacement: lambda reader, *call: reader.combine_elements(
        reader._check_counts(*call), *call[1:]
    ),
    itertools.accumulate: LibraryReader.call_accumulate,
    itertools.starmap: LibraryReader.call_starmap,
    itertools.filterfalse: LibraryReader.call_filter,
    itertools.takewhile: LibraryReader.call_filter,
    itertools.dropwhile: LibraryReader.call_filter,
    dataclasses.replace: LibraryReader._call_replace,
    typing.cast: LibraryReader._call_cast,
    copy.copy: LibraryReader._call_copy,
    operator.neg: LibraryReader._call_neg,
    operator.getitem: LibraryReader._call_getitem,
    operator.setitem: LibraryReader._call_setitem,
}
