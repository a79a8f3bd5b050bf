"""Library functions over many values: sequences, iterators, sums and reductions."""

from __future__ import annotations

import ast
import operator

from fdverify.author_code.source.abstract import (
    ANY,
    NOTHING,
    PLAIN,
    Known,
    Value,
    holds_state,
    is_state,
    join,
    known,
    made,
)
from fdverify.author_code.source.core import Args, only_known
from fdverify.author_code.source.methods import Methods
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope


class Iterating(Methods):
    def sequence(self, kind: str, args: Args, node: ast.AST, scope: Scope) -> Value:
        if not args.positional:
            return made(kind, [])
        items, rest = self.spread(args.positional[0], node, scope)
        return made(kind, None if rest else items, rest)

    def unordered(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        return made("set", rest=self.elements(args.at(0), node, scope))

    def mixed(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        """Build an iterator over the elements of all arguments."""
        elements = [self.elements(value, node, scope) for value in (*args.positional, args.more)]
        return made("iterator", rest=join(*elements))

    def nested(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        """Build an iterator over tuples of elements."""
        elements = [self.elements(value, node, scope) for value in (*args.positional, args.more)]
        return made("iterator", rest=made("tuple", rest=join(*elements)))

    def zip_of(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        if args.more:
            return self.nested(args, node, scope)
        spreads = [self.spread(value, node, scope) for value in args.positional]
        if spreads and all(not rest for _, rest in spreads):
            rows = zip(*(items for items, _ in spreads), strict=False)
            return made("iterator", [made("tuple", list(row)) for row in rows])
        columns = [join(rest, *items) for items, rest in spreads]
        return made("iterator", rest=made("tuple", columns))

    def enumerate_of(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        items, rest = self.spread(args.at(0), node, scope)
        pairs = [
            made("tuple", [known(place) if len(args.positional) == 1 else PLAIN, item])
            for place, item in enumerate(items)
        ]
        return made("iterator", None if rest else pairs, made("tuple", [PLAIN, rest]) if rest else NOTHING)

    def map_of(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        columns = [self.elements(value, node, scope) for value in args.positional[1:]]
        return made("iterator", rest=self.call(args.at(0), Args(columns), node, scope))

    def starmap(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        rows = self.elements(args.at(1), node, scope)
        items, rest = self.spread(rows, node, scope)
        return made("iterator", rest=self.call(args.at(0), Args(items, more=rest), node, scope))

    def filter_of(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(1), node, scope)
        keeps = only_known(args.at(0))
        tested = elements if keeps == Known(None) else self.call(args.at(0), Args([elements]), node, scope)
        if is_state(tested):
            self.refuse(Refusal.FILTER, node, scope)
        return made("iterator", rest=elements)

    def sorted_of(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        many = len(args.positional) == 1
        elements = self.elements(args.at(0), node, scope) if many else join(*args.positional, args.more)
        key = args.named.get("key", known(None))
        by = elements if only_known(key) == Known(None) else self.call(key, Args([elements]), node, scope)
        if holds_state(by):
            self.refuse(Refusal.SORT, node, scope)
        return elements

    def sum_of(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(0), node, scope)
        start = args.at(1) or args.named.get("start", NOTHING)
        if not is_state(join(elements, start)):
            return ANY if holds_state(elements) else PLAIN
        return self.computed(ast.Add(), elements, join(elements, start), node, scope)

    def product(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(0), node, scope)
        return self.computed(ast.Mult(), elements, elements, node, scope)

    def reduce(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(1), node, scope)
        result = join(elements, args.at(2))
        for _ in range(2):
            result = join(result, self.call(args.at(0), Args([result, elements]), node, scope))
        return result

    def accumulate(self, args: Args, node: ast.AST, scope: Scope) -> Value:
        elements = self.elements(args.at(0), node, scope)
        adds = args.at(1) or args.named.get("func", known(operator.add))
        return made("iterator", rest=join(elements, self.call(adds, Args([elements, elements]), node, scope)))
