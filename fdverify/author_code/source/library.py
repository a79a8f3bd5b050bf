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

from fdverify.author_code.source.abstract import (
    ANY,
    PLAIN,
    TEXT,
    VALUE,
    Above,
    LocalFunction,
    Made,
    OfState,
    PartOf,
    Plain,
    Value,
    Wrapped,
    holds_state,
    is_state,
    join,
    known,
    made,
)
from fdverify.author_code.source.core import Args, only_known
from fdverify.author_code.source.iterating import Iterating
from fdverify.author_code.source.library_tables import (
    ALWAYS,
    CHANGED_FIRST,
    CHANGING_OPERATORS,
    COMPARING,
    COMPUTING,
    CONCRETE,
    IF_HELD,
    IF_STATE,
    KINDS,
)
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope

Handler = Callable[["Library", Args, ast.AST, Scope], Value]


class Library(Iterating):
    def library_call(self, function: Any, args: Args, node: ast.AST, scope: Scope) -> Value | None:
        """Call a function of Python or its library; return ``None`` if it is not modelled here."""
        try:
            refusal = IF_STATE.get(function)
        except TypeError:  # it cannot be hashed
            return None
        if refusal is not None and any(is_state(value) for value in args.values()):
            self.refuse(refusal, node, scope)
        refusal = IF_HELD.get(function)
        if refusal is not None and any(holds_state(value) for value in args.values()):
            self.refuse(refusal, node, scope)
        if function in ALWAYS or (function in (vars, dir) and not args.positional):
            self.refuse(Refusal.WORLD, node, scope)
        if function in CHANGED_FIRST:
            self._check_changed(args.at(0), node, scope)
        if function in CHANGING_OPERATORS:
            return self.augmented(CHANGING_OPERATORS[function](), args.at(0), args.at(1), node, scope)
        if function is type and len(args.positional) == 1 and all(isinstance(atom, Wrapped) for atom in args.at(0)):
            return join(*(known(atom.of) for atom in args.at(0) if isinstance(atom, Wrapped)))
        if function is isinstance and len(args.positional) == 2:
            return self._isinstance(args)
        if function in CONCRETE:
            return self._concretely(function, args)
        if function in COMPUTING:
            return self.computed(COMPUTING[function](), args.at(0), args.at(1), node, scope)
        if function in COMPARING:
            return self.compared(COMPARING[function](), args.at(0), args.at(1), node, scope)
        handler = _HANDLERS.get(function)
        return None if handler is None else handler(self, args, node, scope)

    def _check_changed(self, value: Value, node: ast.AST, scope: Scope) -> None:
        for atom in value:
            if not isinstance(atom, Made):
                self.refuse(Refusal.MEMORY, node, scope)
            self.check_change(atom, node, scope)
            atom.forget_order()

    def _isinstance(self, args: Args) -> Value:
        values, expected = args.positional[0], only_known(args.positional[1])
        exact = [atom for atom in values if isinstance(atom, Made | Wrapped)]
        if expected is None or len(exact) != len(values) or len(values) != 1:
            return self._concretely(isinstance, args)
        atom = exact[0]
        kind = KINDS.get(atom.kind) if isinstance(atom, Made) else atom.of
        try:
            return PLAIN if kind is None else known(issubclass(kind, expected.object))
        except TypeError:
            return PLAIN

    def _concretely(self, function: Any, args: Args) -> Value:
        constants = [only_known(value) for value in (*args.positional, *args.named.values())]
        exact = [constant.object for constant in constants if constant is not None]
        if args.more or args.more_named or len(exact) != len(constants):
            return TEXT if function in (str, repr, format) else PLAIN
        named = dict(zip(args.named, exact[len(args.positional) :], strict=True))
        if function is len and isinstance(exact[0], list | dict | set):  # the length of a mutable object may change
            return PLAIN
        try:
            return known(function(*exact[: len(args.positional)], **named))
        except Exception:  # it is raised in every engine
            return PLAIN

    def _dict(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        result = Made("dict", named={})
        for value in args.positional:
            self.merge_into(result, value, node, scope)
        result.forget_order() if args.positional else None
        for name, value in args.named.items():
            result.rest, result.keys = join(result.rest, value), join(result.keys, known(name))
        result.rest = join(result.rest, args.more_named)
        return frozenset({result})

    def _next(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        if self.lasting > 0 and any(isinstance(atom, Plain) for atom in args.at(0)):
            self.refuse(Refusal.MEMORY, node, scope)  # it may have existed before the call
        return join(self.elements(args.at(0), node, scope), args.at(1))

    def _getattr(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        base, name = args.at(0), only_known(args.at(1))
        if is_state(base) and len(args.positional) != 2:
            self.refuse(Refusal.DEFAULT, node, scope)
        if holds_state(args.at(1)):
            self.refuse(Refusal.TEXT, node, scope)
        if name is not None and isinstance(name.object, str):
            return join(self.attribute(base, name.object, node, scope), args.at(2))
        return ANY if holds_state(base) else PLAIN

    def _setattr(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        name = only_known(args.at(1))
        self.store_attribute(args.at(0), str(name.object) if name else "?", args.at(2), node, scope)
        return known(None)

    def _set_item(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        self.store_item(args.at(0), args.at(1), args.at(2), node, scope)
        return known(None)

    def _super(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        if args.positional:
            above, receiver = only_known(args.at(0)), args.at(1)
        else:
            above, receiver = only_known(scope.lookup("__class__")), scope.lookup(first_name(scope))
        return PLAIN if above is None else frozenset({Above(above.object, receiver)})

    def _partial(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return frozenset({PartOf(args.at(0), tuple(args.positional[1:]), dict(args.named))})

    def _replace(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        changes = join(*args.named.values(), args.more_named)
        results: list[Value] = []
        for atom in args.at(0):
            if isinstance(atom, Wrapped):
                if holds_state(changes):
                    self.check_wrapper(atom.of, node, scope)
                results.append(frozenset({Wrapped(atom.of, {**atom.fields, **args.named})}))
            else:
                self.escape(changes, node, scope)
                results.append(ANY if isinstance(atom, OfState) or holds_state(changes) else PLAIN)
        return join(*results)

    def _namespace(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return frozenset({Wrapped(types.SimpleNamespace, dict(args.named))})

    def _second(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return args.at(1)

    def _counted(self, args: Args, node: ast.AST, scope: Scope) -> Args:
        """Return the first argument only; refuse state values in the others, which are counts."""
        if any(holds_state(value) for value in (*args.positional[1:], *args.named.values())):
            self.refuse(Refusal.INDEX, node, scope)
        return Args(args.positional[:1])

    def _first(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return args.at(0)

    def _wraps(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return known(functools.update_wrapper)

    def _cached(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        """Ignore a cache that is created in a call, since it does not outlive the call."""
        return (
            args.at(0)
            if any(isinstance(atom, LocalFunction) for atom in args.at(0))
            else known(functools.update_wrapper)
        )

    def _copy(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        if is_state(args.at(0)):
            self.refuse(Refusal.LIBRARY, node, scope)
        copies = [Made(a.kind, a.items, a.named, a.rest, a.keys) if isinstance(a, Made) else a for a in args.at(0)]
        return frozenset(copies)

    def _negated(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return VALUE if is_state(args.at(0)) else PLAIN

    def _item(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return self.item(args.at(0), args.at(1), node, scope)


def first_name(scope: Scope) -> str:
    """Return the name of the first parameter of the enclosing method."""
    outer = scope
    while outer.parent is not None and "__class__" not in outer.cells:
        outer = outer.parent
    return next(iter(outer.ever), "")


_HANDLERS: dict[Any, Handler] = {
    list: lambda reader, *call: reader.sequence("list", *call),
    tuple: lambda reader, *call: reader.sequence("tuple", *call),
    set: lambda reader, *call: reader.unordered(*call),
    frozenset: lambda reader, *call: reader.unordered(*call),
    iter: lambda reader, *call: reader.sequence("iterator", *call),
    reversed: lambda reader, args, *call: made("iterator", rest=reader.elements(args.at(0), *call)),
    sorted: lambda reader, *call: made("list", rest=reader.sorted_of(*call)),
    min: Library.sorted_of,
    max: Library.sorted_of,
    sum: Library.sum_of,
    math.prod: Library.product,
    dict: Library._dict,
    collections.OrderedDict: Library._dict,
    collections.defaultdict: lambda reader, args, *call: reader._dict(Args(args.positional[1:], args.named), *call),
    collections.deque: lambda reader, *call: reader.sequence("list", *call),
    types.MappingProxyType: Library._dict,
    types.SimpleNamespace: Library._namespace,
    zip: Library.zip_of,
    itertools.zip_longest: Library.nested,
    enumerate: Library.enumerate_of,
    map: Library.map_of,
    filter: Library.filter_of,
    next: Library._next,
    getattr: Library._getattr,
    setattr: Library._setattr,
    object.__setattr__: Library._setattr,
    delattr: Library._setattr,
    super: Library._super,
    functools.partial: Library._partial,
    functools.reduce: Library.reduce,
    functools.wraps: Library._wraps,
    functools.update_wrapper: Library._first,
    functools.cache: Library._cached,
    functools.lru_cache: Library._cached,
    itertools.chain: Library.mixed,
    itertools.chain.from_iterable: lambda reader, args, *call: reader.mixed(
        Args([reader.elements(args.at(0), *call)]), *call
    ),
    itertools.islice: lambda reader, *call: reader.mixed(reader._counted(*call), *call[1:]),
    itertools.cycle: Library.mixed,
    itertools.repeat: lambda reader, *call: made("iterator", rest=reader._counted(*call).at(0)),
    itertools.product: Library.nested,
    itertools.pairwise: Library.nested,
    itertools.combinations: lambda reader, *call: reader.nested(reader._counted(*call), *call[1:]),
    itertools.permutations: lambda reader, *call: reader.nested(reader._counted(*call), *call[1:]),
    itertools.combinations_with_replacement: lambda reader, *call: reader.nested(reader._counted(*call), *call[1:]),
    itertools.accumulate: Library.accumulate,
    itertools.starmap: Library.starmap,
    itertools.filterfalse: Library.filter_of,
    itertools.takewhile: Library.filter_of,
    itertools.dropwhile: Library.filter_of,
    dataclasses.replace: Library._replace,
    typing.cast: Library._second,
    copy.copy: Library._copy,
    operator.neg: Library._negated,
    operator.getitem: Library._item,
    operator.setitem: Library._set_item,
}
