"""Rules with a memory: a function that a sub-round hands out is called again and again, so it must not write outside.

What a phase makes for itself is gone when it returns.  What a sub-round makes lives on in the functions it returns.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from fdverify.errors import UsageError, located

_Nested: TypeAlias = ast.FunctionDef | ast.Lambda
_WRITES = frozenset(
    {"append", "appendleft", "extend", "insert", "remove", "pop", "popleft", "popitem", "clear", "update", "setdefault"}
    | {"add", "discard", "sort", "reverse", "rotate", "__next__", "__setitem__", "__iadd__"}
)


def check_memory(methods: list[Callable[..., Any]]) -> None:
    """Refuse methods, and functions that they name, in which an inner function writes to what it has not made."""
    waiting, seen = [_function_of(method) for method in methods], set[FunctionType]()
    while waiting:
        function = waiting.pop()
        if function is None or function in seen:
            continue
        seen.add(function)
        tree = _tree_of(function)
        if tree is None:
            continue
        for inner in _inner_functions(tree):
            for node in _writes(inner):
                raise _refused(function, tree, node)
        named = (function.__globals__.get(node.id) for node in ast.walk(tree) if isinstance(node, ast.Name))
        waiting += [each for each in named if isinstance(each, FunctionType) and not _is_ours(each)]


def _function_of(method: Callable[..., Any]) -> FunctionType | None:
    function = method.__func__ if isinstance(method, MethodType) else method
    return function if isinstance(function, FunctionType) else None


def _is_ours(function: FunctionType) -> bool:
    return str(function.__globals__.get("__name__")).partition(".")[0] == "fdverify"


def _tree_of(function: FunctionType) -> ast.FunctionDef | None:
    """The source as a tree; none if there is none, which is refused elsewhere."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    return tree if isinstance(tree, ast.FunctionDef) else None


def _inner_functions(tree: ast.AST) -> Iterator[_Nested]:
    """The functions inside of a function, but not those inside of them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            yield node
        else:
            yield from _inner_functions(node)


def _writes(inner: _Nested) -> Iterator[ast.AST]:
    """Where an inner function writes to what lives on between its calls."""
    nodes = list(ast.walk(inner))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    statements = inner.body if isinstance(inner, ast.FunctionDef) else []
    shared = [name for each in statements if isinstance(each, ast.Nonlocal | ast.Global) for name in each.names]
    # A default is made once, and is there again in the next call.
    own -= {*_defaulted(inner.args), *shared}
    for node in nodes:
        if isinstance(node, ast.Nonlocal | ast.Global):
            if not own.issuperset(node.names):
                yield node
        elif _is_write(node, own):
            yield node


def _defaulted(arguments: ast.arguments) -> list[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    last = positional[len(positional) - len(arguments.defaults) :]
    return [*(each.arg for each in last), *(each.arg for each, default in named if default is not None)]


def _is_write(node: ast.AST, own: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)):
            return name not in own and attribute in _WRITES
        case ast.Call(func=ast.Name(id="next" | "setattr"), args=[ast.Name(id=name), *_]):
            return name not in own
        case ast.Attribute(value=value, ctx=ast.Store()) | ast.Subscript(value=value, ctx=ast.Store()):
            return not (isinstance(value, ast.Name) and value.id in own)
    return False


def _refused(function: FunctionType, tree: ast.FunctionDef, node: ast.AST) -> UsageError:
    code = function.__code__
    line = code.co_firstlineno + getattr(node, "lineno", 1) - 1
    return UsageError(
        f"{located(code.co_filename, line)}: round {function.__qualname__} remembers something from call to call "
        f"in `{ast.unparse(node)}`",
        "let what a sub-round returns depend on its arguments alone",
    )
