"""Expressions: the values that they may have, and what is refused in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fdverify.author_code.source.abstract import (
    NOTHING,
    PLAIN,
    TEXT,
    VALUE,
    Atom,
    Known,
    LocalFunction,
    Made,
    Value,
    holds_state,
    is_state,
    join,
    known,
)
from fdverify.author_code.source.calls import Calls
from fdverify.author_code.source.core import Args, TooLong, only_known
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope

_LONGEST = 50_000
"""The maximal number of expressions read for a function, with everything that it calls."""
_SOME_SLICE = slice("?", "?")
"""A slice whose bounds are unknown."""


class ReadExpressions(Calls):
    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        self.steps += 1
        if self.steps > _LONGEST:
            raise TooLong
        value: Value = getattr(self, f"_on_{type(node).__name__}", self._on_other)(node, scope)
        if is_state(value):
            self.touched += 1
        return value

    def _on_other(self, node: ast.expr, scope: Scope) -> Value:
        """Read an unsupported expression, such as await, which is of no use in a function of the state."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, scope)
        self.note_unreadable()
        return PLAIN

    def _on_Constant(self, node: ast.Constant, scope: Scope) -> Value:
        return known(node.value)

    def _on_Name(self, node: ast.Name, scope: Scope) -> Value:
        return scope.lookup(node.id)

    def _on_Attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.evaluate(node.value, scope), node.attr, node, scope)

    def _on_Subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        return self.item(self.evaluate(node.value, scope), self.evaluate(node.slice, scope), node, scope)

    def _on_Slice(self, node: ast.Slice, scope: Scope) -> Value:
        bounds = [
            known(None) if part is None else self.evaluate(part, scope) for part in (node.lower, node.upper, node.step)
        ]
        if any(is_state(bound) for bound in bounds):
            self.refuse(Refusal.INDEX, node, scope)
        constants = [only_known(bound) for bound in bounds]
        exact = [constant.object for constant in constants if constant is not None]
        return known(slice(*exact) if len(exact) == len(constants) else _SOME_SLICE)

    def _on_BinOp(self, node: ast.BinOp, scope: Scope) -> Value:
        return self.computed(node.op, self.evaluate(node.left, scope), self.evaluate(node.right, scope), node, scope)

    def _on_UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            truth = self.truth(value, Refusal.NOT, node, scope)
            return PLAIN if truth is None else known(not truth)
        if is_state(value):
            if not isinstance(node.op, ast.USub):
                self.refuse(Refusal.BITS if isinstance(node.op, ast.Invert) else Refusal.SIGN, node, scope)
            return VALUE
        constant = only_known(value)
        if constant is not None and isinstance(constant.object, int | float) and isinstance(node.op, ast.USub):
            return known(-constant.object)
        names = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
        own = self._own_method(value, names[type(node.op)], None, node, scope)
        return PLAIN if own is None else own

    def _on_BoolOp(self, node: ast.BoolOp, scope: Scope) -> Value:
        is_and = isinstance(node.op, ast.And)
        values: list[Value] = []
        for operand in node.values[:-1]:
            value = self.evaluate(operand, scope)
            truth = self.truth(value, Refusal.AND if is_and else Refusal.OR, node, scope)
            if truth is not None and truth is not is_and:
                return join(*values, value)
            if truth is None:
                values.append(value)
        return join(*values, self.evaluate(node.values[-1], scope))

    def _on_Compare(self, node: ast.Compare, scope: Scope) -> Value:
        operands = [self.evaluate(operand, scope) for operand in (node.left, *node.comparators)]
        pairs = list(zip(node.ops, operands[:-1], operands[1:], strict=True))
        results = [self.compared(operator, left, right, node, scope) for operator, left, right in pairs]
        if len(results) > 1 and any(is_state(result) for result in results):
            self.refuse(Refusal.CHAIN, node, scope)
        return results[0] if len(results) == 1 else PLAIN

    def _on_IfExp(self, node: ast.IfExp, scope: Scope) -> Value:
        match self.truth(self.evaluate(node.test, scope), Refusal.IF, node, scope):
            case True:
                return self.evaluate(node.body, scope)
            case False:
                return self.evaluate(node.orelse, scope)
        return join(self.evaluate(node.body, scope), self.evaluate(node.orelse, scope))

    def _on_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def _on_JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts = [self.evaluate(part, scope) for part in node.values]
        if any(holds_state(part) for part in parts):
            self.refuse(Refusal.TEXT, node, scope)
        return TEXT

    _on_TemplateStr = _on_JoinedStr

    def _on_FormattedValue(self, node: ast.FormattedValue, scope: Scope) -> Value:
        spec = NOTHING if node.format_spec is None else self.evaluate(node.format_spec, scope)
        return join(self.evaluate(node.value, scope), spec)

    _on_Interpolation = _on_FormattedValue

    def _on_Tuple(self, node: ast.Tuple, scope: Scope) -> Value:
        return self._listed("tuple", node.elts, node, scope)

    def _on_List(self, node: ast.List, scope: Scope) -> Value:
        return self._listed("list", node.elts, node, scope)

    def _on_Set(self, node: ast.Set, scope: Scope) -> Value:
        value = self._listed("set", node.elts, node, scope)
        if holds_state(value):
            self.refuse(Refusal.SET, node, scope)
        return value

    def _listed(self, kind: str, elements: Sequence[ast.expr], node: ast.expr, scope: Scope) -> Value:
        items, rest = self._values_of(elements, scope)
        exact = not rest and kind != "set"
        if rest or kind == "set":
            rest = join(rest, *items)
        return self._kept(node, scope, Made(kind, items if exact else None, rest=rest))

    def _kept(self, node: ast.AST, scope: Scope, fresh: Made) -> Value:
        """Record the container that an expression creates; in a loop, one container stands for all."""
        before = scope.made.get(node)
        if isinstance(before, Made):
            before.forget_order()
            fresh.forget_order()
            before.rest, before.keys = join(before.rest, fresh.rest), join(before.keys, fresh.keys)
            return frozenset({before})
        scope.made[node] = fresh
        return frozenset({fresh})

    def _values_of(self, nodes: Sequence[ast.expr], scope: Scope) -> tuple[list[Value], Value]:
        """Evaluate expressions one by one; after a spread of unknown length, join the values instead."""
        items: list[Value] = []
        rest = NOTHING
        for node in nodes:
            if isinstance(node, ast.Starred):
                spread, more = self.spread(self.evaluate(node.value, scope), node, scope)
                rest = join(rest, more, *spread) if rest or more else rest
                items += [] if rest else spread
            else:
                value = self.evaluate(node, scope)
                rest = join(rest, value) if rest else rest
                items += [] if rest else [value]
        return items, rest

    def _on_Dict(self, node: ast.Dict, scope: Scope) -> Value:
        result = Made("dict", named={})
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            key = NOTHING if key_node is None else self.evaluate(key_node, scope)
            value = self.evaluate(value_node, scope)
            constant = only_known(key)
            if holds_state(key):
                self.refuse(Refusal.SET, node, scope)
            if key_node is None:
                self.merge_into(result, value, node, scope)
            elif constant is not None and constant.is_primitive() and result.named is not None:
                result.named[constant.object] = value
            else:
                result.forget_order()
                result.rest, result.keys = join(result.rest, value), join(result.keys, key)
        return self._kept(node, scope, result)

    def _on_Lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return frozenset({self.closure_of(node, scope)})

    def closure_of(self, node: ast.FunctionDef | ast.Lambda, scope: Scope) -> Atom:
        defaults = [self.evaluate(default, scope) for default in node.args.defaults]
        named = {
            arg.arg: self.evaluate(default, scope)
            for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if default is not None
        }
        return scope.made.setdefault(node, LocalFunction(node, scope, defaults, named))

    def _on_Call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.evaluate(node.func, scope)
        positional, more = self._values_of(node.args, scope)
        args = Args(positional, more=more)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                args.named[keyword.arg] = value
                continue
            for atom in value:
                match atom:
                    case Made(named=dict() as named):
                        args.named.update({str(key): entry for key, entry in named.items()})
                    case Known(dict() as named):
                        args.named.update({str(key): known(entry) for key, entry in named.items()})
                    case Made():
                        args.more_named = join(args.more_named, atom.elements())
                    case _:
                        args.more_named = join(args.more_named, frozenset({atom}))
        return self.call(function, args, node, scope)

    def _on_Starred(self, node: ast.Starred, scope: Scope) -> Value:
        return self.elements(self.evaluate(node.value, scope), node, scope)

    def _on_ListComp(self, node: ast.ListComp, scope: Scope) -> Value:
        return self._comprehended("list", node, [node.elt], node.generators, scope)

    def _on_GeneratorExp(self, node: ast.GeneratorExp, scope: Scope) -> Value:
        return self._comprehended("iterator", node, [node.elt], node.generators, scope)

    def _on_SetComp(self, node: ast.SetComp, scope: Scope) -> Value:
        value = self._comprehended("set", node, [node.elt], node.generators, scope)
        if holds_state(value):
            self.refuse(Refusal.SET, node, scope)
        return value

    def _on_DictComp(self, node: ast.DictComp, scope: Scope) -> Value:
        return self._comprehended("dict", node, [node.value, node.key], node.generators, scope)

    def _comprehended(
        self, kind: str, node: ast.expr, parts: list[ast.expr], generators: list[ast.comprehension], scope: Scope
    ) -> Value:
        own = {name.id for each in generators for name in ast.walk(each.target) if isinstance(name, ast.Name)}
        outer = {name: scope.env[name] for name in own if name in scope.env}
        for generator in generators:
            elements = self.elements(self.evaluate(generator.iter, scope), generator.iter, scope)
            self.assign(generator.target, elements, scope)
            for condition in generator.ifs:
                self.truth(self.evaluate(condition, scope), Refusal.FILTER, condition, scope)
        values = [self.evaluate(part, scope) for part in parts]
        scope.env = {**{name: value for name, value in scope.env.items() if name not in own}, **outer}
        if len(values) == 2 and holds_state(values[1]):
            self.refuse(Refusal.SET, node, scope)
        return self._kept(node, scope, Made(kind, rest=values[0], keys=NOTHING if len(values) == 1 else values[1]))

    def _on_Yield(self, node: ast.Yield, scope: Scope) -> Value:
        scope.yielded = join(scope.yielded, known(None) if node.value is None else self.evaluate(node.value, scope))
        return PLAIN

    def _on_YieldFrom(self, node: ast.YieldFrom, scope: Scope) -> Value:
        scope.yielded = join(scope.yielded, self.elements(self.evaluate(node.value, scope), node, scope))
        return PLAIN

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        raise NotImplementedError
