"""Expressions: the values that they may have, and what is refused in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fdverify.author_code.source.abstract_values import (
    NOTHING,
    PLAIN,
    TEXT,
    VALUE,
    AbstractAtom,
    AbstractValue,
    KnownObject,
    LocalFunction,
    NewContainer,
    holds_state,
    is_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.call_reader import CallReader
from fdverify.author_code.source.reader_base import CallArguments, SourceTooLong, find_only_object
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope

_LONGEST = 50_000
"""The maximal number of expressions read for a function, with everything that it calls."""
_SOME_SLICE = slice("?", "?")
"""A slice whose bounds are unknown."""


class ExpressionReader(CallReader):
    def evaluate(self, node: ast.expr, scope: Scope) -> AbstractValue:
        self.steps += 1
        if self.steps > _LONGEST:
            raise SourceTooLong
        value: AbstractValue = getattr(self, f"_on_{type(node).__name__}", self._on_other)(node, scope)
        if is_state(value):
            self.touched += 1
        return value

    def _on_other(self, node: ast.expr, scope: Scope) -> AbstractValue:
        """Read an unsupported expression, such as await, which is of no use in a function of the state."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, scope)
        self.note_unreadable()
        return PLAIN

    def _on_Constant(self, node: ast.Constant, scope: Scope) -> AbstractValue:
        return lift_object(node.value)

    def _on_Name(self, node: ast.Name, scope: Scope) -> AbstractValue:
        return scope.look_up(node.id)

    def _on_Attribute(self, node: ast.Attribute, scope: Scope) -> AbstractValue:
        return self.read_attribute(self.evaluate(node.value, scope), node.attr, node, scope)

    def _on_Subscript(self, node: ast.Subscript, scope: Scope) -> AbstractValue:
        return self.read_item(self.evaluate(node.value, scope), self.evaluate(node.slice, scope), node, scope)

    def _on_Slice(self, node: ast.Slice, scope: Scope) -> AbstractValue:
        bounds = [
            lift_object(None) if part is None else self.evaluate(part, scope)
            for part in (node.lower, node.upper, node.step)
        ]
        if any(is_state(bound) for bound in bounds):
            self.refuse(Refusal.INDEX, node, scope)
        constants = [find_only_object(bound) for bound in bounds]
        exact = [constant.object for constant in constants if constant is not None]
        return lift_object(slice(*exact) if len(exact) == len(constants) else _SOME_SLICE)

    def _on_BinOp(self, node: ast.BinOp, scope: Scope) -> AbstractValue:
        return self.apply_operator(
            node.op, self.evaluate(node.left, scope), self.evaluate(node.right, scope), node, scope
        )

    def _on_UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> AbstractValue:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            truth = self.decide_truth(value, Refusal.NOT, node, scope)
            return PLAIN if truth is None else lift_object(not truth)
        if is_state(value):
            if not isinstance(node.op, ast.USub):
                self.refuse(Refusal.BITS if isinstance(node.op, ast.Invert) else Refusal.SIGN, node, scope)
            return VALUE
        constant = find_only_object(value)
        if constant is not None and isinstance(constant.object, int | float) and isinstance(node.op, ast.USub):
            return lift_object(-constant.object)
        names = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
        own = self.call_own_method(value, names[type(node.op)], [], node, scope)
        return PLAIN if own is None else own

    def _on_BoolOp(self, node: ast.BoolOp, scope: Scope) -> AbstractValue:
        is_and = isinstance(node.op, ast.And)
        values: list[AbstractValue] = []
        for operand in node.values[:-1]:
            value = self.evaluate(operand, scope)
            truth = self.decide_truth(value, Refusal.AND if is_and else Refusal.OR, node, scope)
            if truth is not None and truth is not is_and:
                return join_values(*values, value)
            if truth is None:
                values.append(value)
        return join_values(*values, self.evaluate(node.values[-1], scope))

    def _on_Compare(self, node: ast.Compare, scope: Scope) -> AbstractValue:
        operands = [self.evaluate(operand, scope) for operand in (node.left, *node.comparators)]
        pairs = list(zip(node.ops, operands[:-1], operands[1:], strict=True))
        results = [self.apply_comparison(operator, left, right, node, scope) for operator, left, right in pairs]
        if len(results) > 1 and any(is_state(result) for result in results):
            self.refuse(Refusal.CHAIN, node, scope)
        return results[0] if len(results) == 1 else PLAIN

    def _on_IfExp(self, node: ast.IfExp, scope: Scope) -> AbstractValue:
        match self.decide_truth(self.evaluate(node.test, scope), Refusal.IF, node, scope):
            case True:
                return self.evaluate(node.body, scope)
            case False:
                return self.evaluate(node.orelse, scope)
        return join_values(self.evaluate(node.body, scope), self.evaluate(node.orelse, scope))

    def _on_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> AbstractValue:
        value = self.evaluate(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def _on_JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> AbstractValue:
        parts = [self.evaluate(part, scope) for part in node.values]
        if any(holds_state(part) for part in parts):
            self.refuse(Refusal.TEXT, node, scope)
        return TEXT

    _on_TemplateStr = _on_JoinedStr

    def _on_FormattedValue(self, node: ast.FormattedValue, scope: Scope) -> AbstractValue:
        spec = NOTHING if node.format_spec is None else self.evaluate(node.format_spec, scope)
        return join_values(self.evaluate(node.value, scope), spec)

    _on_Interpolation = _on_FormattedValue

    def _on_Tuple(self, node: ast.Tuple, scope: Scope) -> AbstractValue:
        return self._build_display("tuple", node.elts, node, scope)

    def _on_List(self, node: ast.List, scope: Scope) -> AbstractValue:
        return self._build_display("list", node.elts, node, scope)

    def _on_Set(self, node: ast.Set, scope: Scope) -> AbstractValue:
        value = self._build_display("set", node.elts, node, scope)
        if holds_state(value):
            self.refuse(Refusal.SET, node, scope)
        return value

    def _build_display(self, kind: str, elements: Sequence[ast.expr], node: ast.expr, scope: Scope) -> AbstractValue:
        items, rest = self._evaluate_all(elements, scope)
        exact = not rest and kind != "set"
        if rest or kind == "set":
            rest = join_values(rest, *items)
        return self._record_container(node, scope, NewContainer(kind, items if exact else None, rest=rest))

    def _record_container(self, node: ast.AST, scope: Scope, fresh: NewContainer) -> AbstractValue:
        """Record the container that an expression creates; in a loop, one container stands for all."""
        before = scope.created.get(node)
        if isinstance(before, NewContainer):
            before.merge_parts()
            fresh.merge_parts()
            before.rest, before.keys = join_values(before.rest, fresh.rest), join_values(before.keys, fresh.keys)
            return frozenset({before})
        scope.created[node] = fresh
        return frozenset({fresh})

    def _evaluate_all(self, nodes: Sequence[ast.expr], scope: Scope) -> tuple[list[AbstractValue], AbstractValue]:
        """Evaluate expressions one by one; after a spread of unknown length, join the values instead."""
        items: list[AbstractValue] = []
        rest = NOTHING
        for node in nodes:
            if isinstance(node, ast.Starred):
                spread, more = self.spread(self.evaluate(node.value, scope), node, scope)
                rest = join_values(rest, more, *spread) if rest or more else rest
                items += [] if rest else spread
            else:
                value = self.evaluate(node, scope)
                rest = join_values(rest, value) if rest else rest
                items += [] if rest else [value]
        return items, rest

    def _on_Dict(self, node: ast.Dict, scope: Scope) -> AbstractValue:
        result = NewContainer("dict", named={})
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            key = NOTHING if key_node is None else self.evaluate(key_node, scope)
            value = self.evaluate(value_node, scope)
            constant = find_only_object(key)
            if holds_state(key):
                self.refuse(Refusal.SET, node, scope)
            if key_node is None:
                self.merge_into(result, value, node, scope)
            elif constant is not None and constant.is_primitive() and result.named is not None:
                result.named[constant.object] = value
            else:
                result.merge_parts()
                result.rest, result.keys = join_values(result.rest, value), join_values(result.keys, key)
        return self._record_container(node, scope, result)

    def _on_Lambda(self, node: ast.Lambda, scope: Scope) -> AbstractValue:
        return frozenset({self.build_closure(node, scope)})

    def build_closure(self, node: ast.FunctionDef | ast.Lambda, scope: Scope) -> AbstractAtom:
        defaults = [self.evaluate(default, scope) for default in node.args.defaults]
        named = {
            arg.arg: self.evaluate(default, scope)
            for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if default is not None
        }
        return scope.created.setdefault(node, LocalFunction(node, scope, defaults, named))

    def _on_Call(self, node: ast.Call, scope: Scope) -> AbstractValue:
        function = self.evaluate(node.func, scope)
        positional, more = self._evaluate_all(node.args, scope)
        args = CallArguments(positional, more=more)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                args.named[keyword.arg] = value
                continue
            for atom in value:
                match atom:
                    case NewContainer(named=dict() as named):
                        args.named.update({str(key): entry for key, entry in named.items()})
                    case KnownObject(dict() as named):
                        args.named.update({str(key): lift_object(entry) for key, entry in named.items()})
                    case NewContainer():
                        args.more_named = join_values(args.more_named, atom.join_elements())
                    case _:
                        args.more_named = join_values(args.more_named, frozenset({atom}))
        return self.call(function, args, node, scope)

    def _on_Starred(self, node: ast.Starred, scope: Scope) -> AbstractValue:
        return self.read_elements(self.evaluate(node.value, scope), node, scope)

    def _on_ListComp(self, node: ast.ListComp, scope: Scope) -> AbstractValue:
        return self._evaluate_comprehension("list", node, [node.elt], node.generators, scope)

    def _on_GeneratorExp(self, node: ast.GeneratorExp, scope: Scope) -> AbstractValue:
        return self._evaluate_comprehension("iterator", node, [node.elt], node.generators, scope)

    def _on_SetComp(self, node: ast.SetComp, scope: Scope) -> AbstractValue:
        value = self._evaluate_comprehension("set", node, [node.elt], node.generators, scope)
        if holds_state(value):
            self.refuse(Refusal.SET, node, scope)
        return value

    def _on_DictComp(self, node: ast.DictComp, scope: Scope) -> AbstractValue:
        return self._evaluate_comprehension("dict", node, [node.value, node.key], node.generators, scope)

    def _evaluate_comprehension(
        self, kind: str, node: ast.expr, parts: list[ast.expr], generators: list[ast.comprehension], scope: Scope
    ) -> AbstractValue:
        own = {name.id for each in generators for name in ast.walk(each.target) if isinstance(name, ast.Name)}
        outer = {name: scope.env[name] for name in own if name in scope.env}
        for generator in generators:
            elements = self.read_elements(self.evaluate(generator.iter, scope), generator.iter, scope)
            self.assign(generator.target, elements, scope)
            for condition in generator.ifs:
                self.decide_truth(self.evaluate(condition, scope), Refusal.FILTER, condition, scope)
        values = [self.evaluate(part, scope) for part in parts]
        scope.env = {**{name: value for name, value in scope.env.items() if name not in own}, **outer}
        if len(values) == 2 and holds_state(values[1]):
            self.refuse(Refusal.SET, node, scope)
        return self._record_container(
            node, scope, NewContainer(kind, rest=values[0], keys=NOTHING if len(values) == 1 else values[1])
        )

    def _on_Yield(self, node: ast.Yield, scope: Scope) -> AbstractValue:
        scope.yielded = join_values(
            scope.yielded, lift_object(None) if node.value is None else self.evaluate(node.value, scope)
        )
        return PLAIN

    def _on_YieldFrom(self, node: ast.YieldFrom, scope: Scope) -> AbstractValue:
        scope.yielded = join_values(scope.yielded, self.read_elements(self.evaluate(node.value, scope), node, scope))
        return PLAIN

    def assign(self, target: ast.expr, value: AbstractValue, scope: Scope) -> None:
        raise NotImplementedError
