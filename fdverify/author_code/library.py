"""What Python's own functions and those of its library do to values, as far as authors may use them."""

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

from fdverify.author_code.abstract import (
    ANY,
    NOTHING,
    PLAIN,
    TEXT,
    VALUE,
    Above,
    Closure,
    Known,
    Made,
    OfState,
    PartOf,
    Value,
    Wrapped,
    holds_state,
    is_state,
    join,
    known,
    made,
)
from fdverify.author_code.core import Args, only_known
from fdverify.author_code.methods import Methods
from fdverify.author_code.refusals import Refusal
from fdverify.author_code.scope import Scope

Handler = Callable[["Library", Args, ast.AST, Scope], Value]

_IF_STATE: dict[Any, Refusal] = {
    isinstance: Refusal.TYPE,
    issubclass: Refusal.TYPE,
    type: Refusal.TYPE,
    callable: Refusal.TYPE,
    hasattr: Refusal.DEFAULT,
    vars: Refusal.ATTRIBUTE,
    dir: Refusal.ATTRIBUTE,
    len: Refusal.LENGTH,
    operator.length_hint: Refusal.LENGTH,
    bool: Refusal.CONVERSION,
    int: Refusal.CONVERSION,
    float: Refusal.CONVERSION,
    complex: Refusal.CONVERSION,
    round: Refusal.CONVERSION,
    ord: Refusal.CONVERSION,
    chr: Refusal.CONVERSION,
    bin: Refusal.CONVERSION,
    hex: Refusal.CONVERSION,
    oct: Refusal.CONVERSION,
    divmod: Refusal.CONVERSION,
    operator.index: Refusal.CONVERSION,
    operator.truth: Refusal.CONVERSION,
    operator.not_: Refusal.NOT,
    abs: Refusal.SIGN,
    operator.abs: Refusal.SIGN,
    operator.pos: Refusal.SIGN,
    operator.is_: Refusal.IDENTITY,
    operator.is_not: Refusal.IDENTITY,
    range: Refusal.INDEX,
    slice: Refusal.INDEX,
}
"""Refused of a state value itself; what holds one may have a length and a type."""
_IF_HELD: dict[Any, Refusal] = {
    str: Refusal.TEXT,
    repr: Refusal.TEXT,
    format: Refusal.TEXT,
    ascii: Refusal.TEXT,
    id: Refusal.IDENTITY,
    hash: Refusal.SET,
    set: Refusal.SET,
    frozenset: Refusal.SET,
    collections.Counter: Refusal.SET,
    bytes: Refusal.CONVERSION,
    bytearray: Refusal.CONVERSION,
    any: Refusal.ANY,
    all: Refusal.ANY,
    pow: Refusal.POWER,
    operator.pow: Refusal.POWER,
    math.pow: Refusal.POWER,
    operator.contains: Refusal.MEMBER,
    operator.countOf: Refusal.MEMBER,
    operator.indexOf: Refusal.MEMBER,
    operator.truediv: Refusal.DIVISION,
    copy.deepcopy: Refusal.LIBRARY,
    itertools.groupby: Refusal.SORT,
    itertools.compress: Refusal.FILTER,
    functools.cmp_to_key: Refusal.SORT,
}
_CONCRETE = frozenset(
    {isinstance, issubclass, type, callable, hasattr, len, bool, int, float, str, repr, abs, round, ord, chr, range}
    | {bin, hex, divmod, operator.attrgetter, operator.itemgetter, operator.methodcaller, slice, format}
)
"""Computed where all arguments are constants."""
_ALWAYS = (print, input, open, eval, exec, compile, __import__, globals, locals, breakpoint)
_KINDS = {"list": list, "tuple": tuple, "dict": dict, "set": set}
_COMPUTING: dict[Any, type[ast.operator]] = {
    operator.add: ast.Add,
    operator.sub: ast.Sub,
    operator.mul: ast.Mult,
    operator.floordiv: ast.FloorDiv,
    operator.mod: ast.Mod,
    operator.and_: ast.BitAnd,
    operator.or_: ast.BitOr,
    operator.xor: ast.BitXor,
    operator.lshift: ast.LShift,
    operator.rshift: ast.RShift,
    operator.matmul: ast.MatMult,
}
_COMPARING: dict[Any, type[ast.cmpop]] = {
    operator.eq: ast.Eq,
    operator.ne: ast.NotEq,
    operator.lt: ast.Lt,
    operator.le: ast.LtE,
    operator.gt: ast.Gt,
    operator.ge: ast.GtE,
}


class Library(Methods):
    def library_call(self, function: Any, args: Args, node: ast.AST, scope: Scope) -> Value | None:
        """What a function of Python or its library gives; ``None`` if it is not known here."""
        try:
            refusal = _IF_STATE.get(function)
        except TypeError:  # it cannot be hashed
            return None
        if refusal is not None and any(is_state(value) for value in args.values()):
            self.refuse(refusal, node, scope)
        refusal = _IF_HELD.get(function)
        if refusal is not None and any(holds_state(value) for value in args.values()):
            self.refuse(refusal, node, scope)
        if function in _ALWAYS or (function in (vars, dir) and not args.positional):
            self.refuse(Refusal.WORLD, node, scope)
        if function is isinstance and len(args.positional) == 2:
            return self._isinstance(args)
        if function in _CONCRETE:
            return self._concretely(function, args)
        if function in _COMPUTING:
            return self.computed(_COMPUTING[function](), args.at(0), args.at(1), node, scope)
        if function in _COMPARING:
            return self.compared(_COMPARING[function](), args.at(0), args.at(1), node, scope)
        handler = _HANDLERS.get(function)
        return None if handler is None else handler(self, args, node, scope)

    def _isinstance(self, args: Args) -> Value:
        kinds, of = args.positional[0], only_known(args.positional[1])
        exact = [atom for atom in kinds if isinstance(atom, Made | Wrapped)]
        if of is None or len(exact) != len(kinds) or len(kinds) != 1:
            return self._concretely(isinstance, args)
        atom = exact[0]
        kind = _KINDS.get(atom.kind) if isinstance(atom, Made) else atom.of
        try:
            return PLAIN if kind is None else known(issubclass(kind, of.object))
        except TypeError:
            return PLAIN

    def _concretely(self, function: Any, args: Args) -> Value:
        constants = [only_known(value) for value in args.positional]
        exact = [constant.object for constant in constants if constant is not None]
        if args.named or args.more or args.more_named or len(exact) != len(constants):
            return TEXT if function in (str, repr, format) else PLAIN
        if function is len and isinstance(exact[0], list | dict | set):  # what can be changed may have another one
            return PLAIN
        try:
            return known(function(*exact))
        except Exception:  # it is raised on every kind of values
            return PLAIN

    def _sequence(self, kind: str, args: Args, node: ast.AST, scope: Scope) -> Value:
        if not args.positional:
            return made(kind, [])
        items, rest = self.spread(args.positional[0], node, scope)
        return made(kind, None if rest else items, rest)

    def _unordered(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return made("set", rest=self.elements(args.at(0), node, scope))

    def _mixed(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        """An iterator over the elements of all arguments."""
        elements = [self.elements(value, node, scope) for value in (*args.positional, args.more)]
        return made("iterator", rest=join(*elements))

    def _nested(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        """An iterator over tuples of elements."""
        elements = [self.elements(value, node, scope) for value in (*args.positional, args.more)]
        return made("iterator", rest=made("tuple", rest=join(*elements)))

    def _zip(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        if args.more:
            return self._nested(args, node, scope)
        spreads = [self.spread(value, node, scope) for value in args.positional]
        if spreads and all(not rest for _, rest in spreads):
            rows = zip(*(items for items, _ in spreads), strict=False)
            return made("iterator", [made("tuple", list(row)) for row in rows])
        columns = [join(rest, *items) for items, rest in spreads]
        return made("iterator", rest=made("tuple", columns))

    def _enumerate(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        items, rest = self.spread(args.at(0), node, scope)
        pairs = [
            made("tuple", [known(place) if len(args.positional) == 1 else PLAIN, item])
            for place, item in enumerate(items)
        ]
        return made("iterator", None if rest else pairs, made("tuple", [PLAIN, rest]) if rest else NOTHING)

    def _map(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        columns = [self.elements(value, node, scope) for value in args.positional[1:]]
        return made("iterator", rest=self.call(args.at(0), Args(columns), node, scope))

    def _starmap(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        rows = self.elements(args.at(1), node, scope)
        items, rest = self.spread(rows, node, scope)
        return made("iterator", rest=self.call(args.at(0), Args(items, more=rest), node, scope))

    def _filter(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(1), node, scope)
        keeps = only_known(args.at(0))
        tested = elements if keeps == Known(None) else self.call(args.at(0), Args([elements]), node, scope)
        if is_state(tested):
            self.refuse(Refusal.FILTER, node, scope)
        return made("iterator", rest=elements)

    def _sorted(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        many = len(args.positional) == 1
        elements = self.elements(args.at(0), node, scope) if many else join(*args.positional, args.more)
        key = args.named.get("key", known(None))
        by = elements if only_known(key) == Known(None) else self.call(key, Args([elements]), node, scope)
        if holds_state(by):
            self.refuse(Refusal.SORT, node, scope)
        return elements

    def _sum(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(0), node, scope)
        start = args.at(1) or args.named.get("start", NOTHING)
        if not is_state(join(elements, start)):
            return ANY if holds_state(elements) else PLAIN
        return self.computed(ast.Add(), elements, join(elements, start), node, scope)

    def _product(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(0), node, scope)
        return self.computed(ast.Mult(), elements, elements, node, scope)

    def _reduce(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(1), node, scope)
        result = join(elements, args.at(2))
        for _ in range(2):
            result = join(result, self.call(args.at(0), Args([result, elements]), node, scope))
        return result

    def _accumulate(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(0), node, scope)
        adds = args.at(1) or args.named.get("func", known(operator.add))
        return made("iterator", rest=join(elements, self.call(adds, Args([elements, elements]), node, scope)))

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
        found: list[Value] = []
        for atom in args.at(0):
            if isinstance(atom, Wrapped):
                if holds_state(changes):
                    self.check_wrapper(atom.of, node, scope)
                found.append(frozenset({Wrapped(atom.of, {**atom.fields, **args.named})}))
            else:
                self.escape(changes, node, scope)
                found.append(ANY if isinstance(atom, OfState) or holds_state(changes) else PLAIN)
        return join(*found)

    def _namespace(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return frozenset({Wrapped(types.SimpleNamespace, dict(args.named))})

    def _second(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return args.at(1)

    def _first(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return args.at(0)

    def _wraps(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return known(functools.update_wrapper)

    def _cached(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        """A cache that is made in a call is forgotten after it: it is as if there were none."""
        return args.at(0) if any(isinstance(atom, Closure) for atom in args.at(0)) else known(functools.update_wrapper)

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
    """The first parameter of the function."""
    outer = scope
    while outer.parent is not None and "__class__" not in outer.cells:
        outer = outer.parent
    return next(iter(outer.ever), "")


_HANDLERS: dict[Any, Handler] = {
    list: lambda reader, *call: reader._sequence("list", *call),
    tuple: lambda reader, *call: reader._sequence("tuple", *call),
    set: lambda reader, *call: reader._unordered(*call),
    frozenset: lambda reader, *call: reader._unordered(*call),
    iter: lambda reader, *call: reader._sequence("iterator", *call),
    reversed: lambda reader, args, *call: made("iterator", rest=reader.elements(args.at(0), *call)),
    sorted: lambda reader, *call: made("list", rest=reader._sorted(*call)),
    min: Library._sorted,
    max: Library._sorted,
    sum: Library._sum,
    math.prod: Library._product,
    dict: Library._dict,
    collections.OrderedDict: Library._dict,
    collections.defaultdict: lambda reader, args, *call: reader._dict(Args(args.positional[1:], args.named), *call),
    collections.deque: lambda reader, *call: reader._sequence("list", *call),
    types.MappingProxyType: Library._dict,
    types.SimpleNamespace: Library._namespace,
    zip: Library._zip,
    itertools.zip_longest: Library._nested,
    enumerate: Library._enumerate,
    map: Library._map,
    filter: Library._filter,
    next: Library._next,
    getattr: Library._getattr,
    setattr: Library._setattr,
    object.__setattr__: Library._setattr,
    delattr: Library._setattr,
    super: Library._super,
    functools.partial: Library._partial,
    functools.reduce: Library._reduce,
    functools.wraps: Library._wraps,
    functools.update_wrapper: Library._first,
    functools.cache: Library._cached,
    functools.lru_cache: Library._cached,
    itertools.chain: Library._mixed,
    itertools.chain.from_iterable: lambda reader, args, *call: reader._mixed(
        Args([reader.elements(args.at(0), *call)]), *call
    ),
    itertools.islice: lambda reader, args, *call: reader._mixed(Args(args.positional[:1]), *call),
    itertools.cycle: Library._mixed,
    itertools.repeat: lambda reader, args, *call: made("iterator", rest=args.at(0)),
    itertools.product: Library._nested,
    itertools.pairwise: Library._nested,
    itertools.combinations: lambda reader, args, *call: reader._nested(Args(args.positional[:1]), *call),
    itertools.permutations: lambda reader, args, *call: reader._nested(Args(args.positional[:1]), *call),
    itertools.combinations_with_replacement: lambda reader, args, *call: reader._nested(
        Args(args.positional[:1]), *call
    ),
    itertools.accumulate: Library._accumulate,
    itertools.starmap: Library._starmap,
    itertools.filterfalse: Library._filter,
    itertools.takewhile: Library._filter,
    itertools.dropwhile: Library._filter,
    dataclasses.replace: Library._replace,
    typing.cast: Library._second,
    copy.copy: Library._copy,
    operator.neg: Library._negated,
    operator.getitem: Library._item,
}
