"""Library functions over many values: sequences, iterators, sums and reductions."""

from __future__ import annotations

import ast
import operator

from fdverify.author_code.source.abstract_values import (
    ANY,
    NOTHING,
    PLAIN,
    AbstractValue,
    KnownObject,
    build_container,
    holds_state,
    is_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.method_reader import MethodReader
from fdverify.author_code.source.reader_base import CallArguments, find_only_object
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope


class IterationReader(MethodReader):
    def build_sequence(self, kind: str, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        if not args.positional:
            return build_container(kind, [])
        items, rest = self.spread(args.positional[0], node, scope)
        return build_container(kind, None if rest else items, rest)

    def build_set(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        return build_container("set", rest=self.read_elements(args.get_positional(0), node, scope))

    def chain_elements(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        """Build an iterator over the elements of all arguments."""
        elements = [self.read_elements(value, node, scope) for value in (*args.positional, args.more)]
        return build_container("iterator", rest=join_values(*elements))

    def combine_elements(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        """Build an iterator over tuples of elements."""
        elements = [self.read_elements(value, node, scope) for value in (*args.positional, args.more)]
        return build_container("iterator", rest=build_container("tuple", rest=join_values(*elements)))

    def call_zip(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        if args.more:
            return self.combine_elements(args, node, scope)
        spreads = [self.spread(value, node, scope) for value in args.positional]
        if spreads and all(not rest for _, rest in spreads):
            rows = zip(*(items for items, _ in spreads), strict=False)
            return build_container("iterator", [build_container("tuple", list(row)) for row in rows])
        columns = [join_values(rest, *items) for items, rest in spreads]
        return build_container("iterator", rest=build_container("tuple", columns))

    def call_enumerate(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        items, rest = self.spread(args.get_positional(0), node, scope)
        pairs = [
            build_container("tuple", [lift_object(place) if len(args.positional) == 1 else PLAIN, item])
            for place, item in enumerate(items)
        ]
        return build_container(
            "iterator", None if rest else pairs, build_container("tuple", [PLAIN, rest]) if rest else NOTHING
        )

    def call_map(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        columns = [self.read_elements(value, node, scope) for value in args.positional[1:]]
        return build_container("iterator", rest=self.call(args.get_positional(0), CallArguments(columns), node, scope))

    def call_starmap(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        rows = self.read_elements(args.get_positional(1), node, scope)
        items, rest = self.spread(rows, node, scope)
        return build_container(
            "iterator", rest=self.call(args.get_positional(0), CallArguments(items, more=rest), node, scope)
        )

    def call_filter(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        elements = self.read_elements(args.get_positional(1), node, scope)
        keeps = find_only_object(args.get_positional(0))
        tested = (
            elements
            if keeps == KnownObject(None)
            else self.call(args.get_positional(0), CallArguments([elements]), node, scope)
        )
        if is_state(tested):
            self.refuse(Refusal.FILTER, node, scope)
        return build_container("iterator", rest=elements)

    def call_sorted(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        many = len(args.positional) == 1
        elements = (
            self.read_elements(args.get_positional(0), node, scope)
            if many
            else join_values(*args.positional, args.more)
        )
        key = args.named.get("key", lift_object(None))
        by = (
            elements
            if find_only_object(key) == KnownObject(None)
            else self.call(key, CallArguments([elements]), node, scope)
        )
        if holds_state(by):
            self.refuse(Refusal.SORT, node, scope)
        return elements

    def call_sum(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        elements = self.read_elements(args.get_positional(0), node, scope)
        start = args.get_positional(1) or args.named.get("start", NOTHING)
        if not is_state(join_values(elements, start)):
            return ANY if holds_state(elements) else PLAIN
        return self.apply_operator(ast.Add(), elements, join_values(elements, start), node, scope)

    def call_prod(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        elements = self.read_elements(args.get_positional(0), node, scope)
        return self.apply_operator(ast.Mult(), elements, elements, node, scope)

    def call_reduce(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        elements = self.read_elements(args.get_positional(1), node, scope)
        result = join_values(elements, args.get_positional(2))
        for _ in range(2):
            result = join_values(
                result, self.call(args.get_positional(0), CallArguments([result, elements]), node, scope)
            )
        return result

    def call_accumulate(self, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        elements = self.read_elements(args.get_positional(0), node, scope)
        adds = args.get_positional(1) or args.named.get("func", lift_object(operator.add))
        return build_container(
            "iterator", rest=join_values(elements, self.call(adds, CallArguments([elements, elements]), node, scope))
        )
