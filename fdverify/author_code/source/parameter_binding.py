"""The binding of a call's arguments to the parameters of a function."""

from __future__ import annotations

import ast
from types import FunctionType

from fdverify.author_code.source.abstract_values import (
    NOTHING,
    PLAIN,
    AbstractValue,
    NewContainer,
    build_container,
    join_values,
)
from fdverify.author_code.source.reader_base import CallArguments
from fdverify.author_code.source.scope import Scope
from fdverify.author_code.source.source_files import FunctionNode


def list_required_keywords(node: FunctionNode, function: FunctionType) -> list[str]:
    return [arg.arg for arg in node.args.kwonlyargs if arg.arg not in (function.__kwdefaults__ or {})]


def bind_parameters(
    tree: FunctionNode,
    scope: Scope,
    defaults: list[AbstractValue],
    named: dict[str, AbstractValue],
    args: CallArguments,
) -> None:
    """Bind the parameters of a function in its scope."""
    parameters = [arg.arg for arg in (*tree.args.posonlyargs, *tree.args.args)]
    by_name = dict(args.named)
    missing = len(parameters) - len(defaults)
    for place, name in enumerate(parameters):
        default = defaults[place - missing] if place >= missing else NOTHING
        if place < len(args.positional):
            value = args.positional[place]
        elif name in by_name:
            value = by_name.pop(name)
        else:
            value = join_values(default, args.more, args.more_named) or PLAIN
        scope.bind(name, value)
    for arg in tree.args.kwonlyargs:
        default = join_values(named.get(arg.arg, NOTHING), args.more_named) or PLAIN
        scope.bind(arg.arg, by_name.pop(arg.arg, default))
    if tree.args.vararg is not None:
        extra = args.positional[len(parameters) :]
        rest = join_values(args.more, *extra) if args.more else NOTHING
        scope.bind(tree.args.vararg.arg, build_container("tuple", None if args.more else extra, rest))
    if tree.args.kwarg is not None:
        held = NewContainer("dict", named=dict(by_name))
        if args.more_named:
            held.merge_parts()
            held.rest = join_values(held.rest, args.more_named)
        scope.bind(tree.args.kwarg.arg, frozenset({held}))


def is_generator(tree: FunctionNode) -> bool:
    return isinstance(tree, ast.FunctionDef) and any(_has_yield(statement) for statement in tree.body)


def _has_yield(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return False
    return isinstance(node, ast.Yield | ast.YieldFrom) or any(map(_has_yield, ast.iter_child_nodes(node)))
