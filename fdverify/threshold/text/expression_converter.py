"""The names that a text declares, and expressions over them.

Macros are expanded where they are used.  A few macros can expand to a text of any length, so the total length of
expansions is limited.  Formulas are traversed by recursion, so their nesting depth is limited too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from lark import Token

from fdverify.errors import UsageError, suggest_name
from fdverify.logic import shorten_value
from fdverify.threshold.ltl_formula import (
    And,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    LinearComparison,
    LinearExpression,
    Not,
    Or,
    collect_formula_names,
    is_temporal,
)
from fdverify.threshold.text.parse import Node, TextSource
from fdverify.threshold.text.write import format_linear

Value: TypeAlias = LinearExpression | Formula

_DEEPEST = 200
_MOST_DIGITS = 15
_MOST_WRITTEN_OUT = 1_000_000
_MOST_HINTED = 200
"""With more names than this, an error has no hint with similar names."""

_CONNECTED: dict[str, type[And] | type[Or] | type[Implies]] = {"both": And, "either": Or, "implies": Implies}
_PREFIXED: dict[str, type[Not] | type[Eventually] | type[Globally]] = {"!": Not, "<>": Eventually, "[]": Globally}


@dataclass(frozen=True)
class _Macro:
    value: Value
    length: int
    """The approximate length of its expansion, in characters."""
    depth: int


class ExpressionConverter:
    """The declared names and macros of a text, and the conversion of syntax trees over them to formulas."""

    def __init__(self, source: TextSource) -> None:
        self._source = source
        self._kinds: dict[str, str] = {}
        self._macros: dict[str, _Macro] = {}
        self._written_out = 0

    def declare_name(self, token: Node, kind: str) -> str:
        name = str(token)
        if name in self._kinds:
            raise self._source.build_error(token, f"{shorten_value(name)} is declared twice")
        self._kinds[name] = kind
        return name

    def define_macro(self, token: Node, expression: Node) -> None:
        """Define a macro, which may use earlier macros."""
        length, depth = self._measure_expression(expression)
        value = self._convert_node(expression)
        if isinstance(value, LinearExpression):
            length, depth = len(format_linear(value)), 0
        self._macros[self.declare_name(token, "macro")] = _Macro(value, length, depth)

    def define_formula(self, name: str, value: Formula) -> None:
        """Define a macro by a formula instead of text."""
        self._kinds[name] = "macro"
        self._kinds.update(dict.fromkeys(collect_formula_names(value) - set(self._kinds), "name"))
        self._macros[name] = _Macro(value, len(name), 0)

    def check_kind(self, token: Node, kind: str) -> str:
        """Return a name; refuse one that is not declared as this kind."""
        name = str(token)
        if self._kinds.get(name) != kind:
            known = [declared for declared, other in self._kinds.items() if other == kind]
            raise self._build_unknown_error(token, f"{shorten_value(name)} is not a {kind}", known)
        return name

    def _build_unknown_error(self, token: Node, what: str, known: list[str]) -> UsageError:
        hint = suggest_name(str(token), known) if 0 < len(known) <= _MOST_HINTED else None
        return self._source.build_error(token, what, hint)

    def parse_number(self, token: Node) -> int:
        if len(token) > _MOST_DIGITS:
            raise self._source.build_error(token, f"a number has at most {_MOST_DIGITS} digits")
        return int(token)

    def convert_formula(self, node: Node, kinds: set[str], temporal: bool = False) -> Formula:
        """Convert a tree to a formula over names of these kinds."""
        self._measure_expression(node)
        value = self._require_formula(self._convert_node(node), node)
        if not temporal and is_temporal(value):
            raise self._source.build_error(node, "<> and [] belong to specifications")
        for name in sorted(collect_formula_names(value)):
            kind = self._kinds[name]
            if kind not in kinds:
                raise self._source.build_error(node, f"{shorten_value(name)} is a {kind}, which cannot be used here")
        return value

    def convert_linear(self, node: Node) -> LinearExpression:
        """Convert a tree to a linear expression."""
        self._measure_expression(node)
        return self._require_linear(self._convert_node(node), node)

    def convert_update(self, name: str, node: Node) -> int:
        """Return the constant c of an update ``name' == name + c``."""
        self._measure_expression(node)
        value = self._convert_node(node)
        grown = value.add(LinearExpression.from_factors({name: 1}), -1) if isinstance(value, LinearExpression) else None
        if grown is None or grown.factors or grown.constant < 0:
            shown = shorten_value(name)
            raise self._source.build_error(
                node, f"a shared variable can only grow by a number: {shown}' == {shown} + 1"
            )
        return grown.constant

    def _measure_expression(self, expression: Node) -> tuple[int, int]:
        """Measure the length and the nesting depth of an expression with its macros expanded.

        Sums do not count for the depth of a formula, since they become flat linear expressions.
        """
        waiting = [(expression, 0, False)]
        length = deepest = 0
        while waiting:
            node, depth, in_sum = waiting.pop()
            macro = self._macros.get(node.children[0]) if node.data == "name" else None
            if macro is not None:
                depth += macro.depth
                length += macro.length
                self._written_out += macro.length
                if self._written_out > _MOST_WRITTEN_OUT:
                    raise self._source.build_error(
                        node, f"the expanded macros are longer than {_MOST_WRITTEN_OUT} characters"
                    )
            if depth > _DEEPEST:
                hint = "each && and || in a chain counts as a level: put parts of it in parentheses"
                raise self._source.build_error(node, f"this is nested more than {_DEEPEST} levels deep", hint)
            deepest = deepest if in_sum else max(deepest, depth)
            length += 4  # an operator, a parenthesis, spaces
            for position, child in enumerate(node.children):
                if isinstance(child, Token):
                    length += len(child)
                elif node.data == "compared" and not in_sum:
                    waiting.append((child, 0, True))
                else:
                    chained = position == 0 and node.data in ("plus", "minus")
                    waiting.append((child, depth if chained else depth + 1, in_sum))
        return length, deepest

    def _convert_node(self, node: Node) -> Value:
        match node.data:
            case "name":
                return self._look_up_name(node.children[0])
            case "number":
                return LinearExpression(constant=self.parse_number(node.children[0]))
            case "constant":
                return Constant(node.children[0] == "true")
            case "plus" | "minus":
                return self._convert_sum(node)
            case "times":
                left, right = node.children
                return self._multiply_expressions(
                    node,
                    self._require_linear(self._convert_node(left), left),
                    self._require_linear(self._convert_node(right), right),
                )
            case "negative":
                operand = node.children[1]
                return self._require_linear(self._convert_node(operand), operand).scale(-1)
            case "compared":
                left, operator, right = node.children
                return LinearComparison(
                    self._require_linear(self._convert_node(left), left),
                    str(operator),
                    self._require_linear(self._convert_node(right), right),
                )
            case "prefixed":
                sign, operand = node.children
                return _PREFIXED[sign](self._require_formula(self._convert_node(operand), operand))
            case connective:
                left, right = node.children
                return _CONNECTED[connective](
                    self._require_formula(self._convert_node(left), left),
                    self._require_formula(self._convert_node(right), right),
                )

    def _look_up_name(self, token: Node) -> Value:
        name = str(token)
        if name in self._macros:
            return self._macros[name].value
        if name not in self._kinds:
            raise self._build_unknown_error(token, f"there is no {shorten_value(name)}", list(self._kinds))
        return LinearExpression.from_factors({name: 1})

    def _convert_sum(self, whole: Node) -> LinearExpression:
        """Convert a sum by iteration, since it may have very many terms."""
        terms = []
        node = whole
        while node.data in ("plus", "minus"):
            left, right = node.children
            terms.append((1 if node.data == "plus" else -1, right))
            node = left
        terms.append((1, node))
        factors: dict[str, int] = {}
        constant = 0
        for sign, term in reversed(terms):
            linear = self._require_linear(self._convert_node(term), term)
            constant += sign * linear.constant
            for name, factor in linear.factors:
                factors[name] = factors.get(name, 0) + sign * factor
        return self._check_limit(whole, LinearExpression.from_factors(factors, constant))

    def _multiply_expressions(self, node: Node, left: LinearExpression, right: LinearExpression) -> LinearExpression:
        if left.factors and right.factors:
            raise self._source.build_error(node, "a product of two names is not linear")
        return self._check_limit(node, left.scale(right.constant) if left.factors else right.scale(left.constant))

    def _check_limit(self, node: Node, linear: LinearExpression) -> LinearExpression:
        largest = max(abs(linear.constant), *(abs(factor) for _, factor in linear.factors), 0)
        if largest >= 10**_MOST_DIGITS:
            raise self._source.build_error(node, f"a number in this has more than {_MOST_DIGITS} digits")
        return linear

    def _require_linear(self, value: Value, node: Node) -> LinearExpression:
        if not isinstance(value, LinearExpression):
            raise self._source.build_error(node, "this is a truth value, but a number is needed")
        return value

    def _require_formula(self, value: Value, node: Node) -> Formula:
        if isinstance(value, LinearExpression):
            raise self._source.build_error(node, "this is a number, but a truth value is needed", "compare it: x >= 1")
        return value
