"""Arithmetic expressions over named integers, as options take them: ``6*phi+delta``.  They never run as Python code.

The grammar is a subset of Python's, so Python's parser reads it.  Every node that is not listed here is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add, floordiv, mod, mul, sub

from fdverify.errors import UsageError
from fdverify.logic import Max, Min, Number

_LONGEST = 1000
_DEEPEST = 100
_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.FloorDiv: floordiv,
    ast.Mod: mod,
}
_FUNCTIONS = {"min": Min, "max": Max}


@dataclass(frozen=True)
class Expression:
    text: str
    tree: ast.expr

    def __str__(self) -> str:
        return self.text

    def collect_names(self) -> set[str]:
        """Return the names of the values that it needs."""
        called = {node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node not in called}

    def evaluate(self, values: Mapping[str, Number]) -> Number:
        return _evaluate_node(self.tree, values)


def parse_expression(text: str, names: Collection[str]) -> Expression:
    """Parse ``text`` as an expression over ``names``; a :class:`UsageError` says what is wrong with it."""
    if len(text) > _LONGEST:
        raise UsageError(f"expression of {len(text)} characters is longer than {_LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _check_node(text, tree, names, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _build_refusal(text, "it does not parse", names) from None
    return Expression(text.strip(), tree)


def _build_refusal(text: str, reason: str, names: Collection[str]) -> UsageError:
    known = ", ".join(sorted(names))
    return UsageError(
        f"bad expression {text!r}: {reason}",
        f"integers, {known}, + - * ( ) min max, // and % by a positive literal",
    )


def _check_node(text: str, node: ast.expr, names: Collection[str], depth: int) -> None:
    if depth > _DEEPEST:
        raise _build_refusal(text, f"it is nested deeper than {_DEEPEST}", names)
    match node:
        case ast.Constant(value=value) if type(value) is int:
            return
        case ast.Name(id=name):
            if name not in names:
                raise _build_refusal(text, f"unknown name {name}", names)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check_node(text, operand, names, depth + 1)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            if isinstance(operator, ast.FloorDiv | ast.Mod) and not _is_positive_literal(right):
                raise _build_refusal(text, "the divisor is not a positive literal", names)
            _check_node(text, left, names, depth + 1)
            _check_node(text, right, names, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            if len(arguments) < 2:
                raise _build_refusal(text, f"{name} takes two values or more", names)
            for argument in arguments:
                _check_node(text, argument, names, depth + 1)
        case _:
            raise _build_refusal(text, f"{ast.unparse(node)!r} is not in the grammar", names)


def _is_positive_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0


def _evaluate_node(node: ast.expr, values: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate_node(operand, values)
        case ast.UnaryOp(operand=operand):
            return _evaluate_node(operand, values)
        case ast.BinOp(left=left, op=operator, right=right):
            return _OPERATORS[type(operator)](_evaluate_node(left, values), _evaluate_node(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return reduce(_FUNCTIONS[name], (_evaluate_node(argument, values) for argument in arguments))
    raise AssertionError(f"unchecked node {ast.dump(node)}")
