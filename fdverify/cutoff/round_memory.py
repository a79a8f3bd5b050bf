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
    | {"add", "discard", "sort", "reverse", "rotate", "__next__", "__setitem__", "__iadd__", "send"}
)
_COPIES = frozenset({"list", "dict", "set", "tuple", "frozenset", "sorted", "deque", "defaultdict", "Counter", "copy"})
_ITERATORS = frozenset({"iter", "map", "filter", "zip", "enumerate", "reversed"})
_NUMERIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Name)
"""What is added to a number, rather than to a container."""


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
            for node in _writes(inner, _iterators(tree, function.__globals__)):
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


def _writes(inner: _Nested, iterators: frozenset[str]) -> Iterator[ast.AST]:
    """Where an inner function writes to what lives on between its calls, or uses up an iterator that does."""
    nodes = list(ast.walk(inner))
    own = _made_names(nodes) - {*_defaulted(inner.args), *_shared_names(inner)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        match node:
            case ast.Nonlocal(names) | ast.Global(names) if not own.issuperset(names):
                yield node
            case ast.Attribute(value=value, attr=attribute) if id(node) not in called and attribute in _WRITES:
                yield from () if _is_own(value, own) else (node,)  # kept under another name, to be called later
            case ast.Name(id=name, ctx=ast.Load()) if name in iterators and name not in bound:
                yield node
            case _ if _is_write(node, own):
                yield node


def _shared_names(inner: _Nested) -> list[str]:
    statements = inner.body if isinstance(inner, ast.FunctionDef) else []
    return [name for each in statements if isinstance(each, ast.Nonlocal | ast.Global) for name in each.names]


def _made_names(nodes: list[ast.AST]) -> set[str]:
    """The names that stand for nothing but what the function has itself made."""
    made = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    stored = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    fresh: set[int] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets, value) if _is_fresh(value):
                fresh |= {id(target) for target in targets}
            case ast.AnnAssign(target=target, value=value) if value is None or _is_fresh(value):
                fresh.add(id(target))
            case ast.NamedExpr(target, value) if _is_fresh(value):
                fresh.add(id(target))
            case ast.AugAssign(target=target):  # it stands for what it stood for
                fresh.add(id(target))
    others = {name.id for name in stored if id(name) not in fresh}
    return (made | {name.id for name in stored}) - others


def _is_fresh(value: ast.expr) -> bool:
    match value:
        case ast.List() | ast.ListComp() | ast.Dict() | ast.DictComp() | ast.Set() | ast.SetComp() | ast.GeneratorExp():
            return True
        case ast.Constant() | ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Lambda():
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _COPIES
    return False


def _iterators(tree: ast.FunctionDef, names: dict[str, Any]) -> frozenset[str]:
    """The names of a function that stand for what can be gone through once."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and _is_iterator(node.value, names)]
    return frozenset(target.id for node in assigned for target in node.targets if isinstance(target, ast.Name))


def _is_iterator(value: ast.expr, names: dict[str, Any]) -> bool:
    match value:
        case ast.GeneratorExp() | ast.Call(func=ast.Attribute(value=ast.Name(id="itertools"))):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _ITERATORS or getattr(names.get(name), "__module__", None) == "itertools"
    return False


def _defaulted(arguments: ast.arguments) -> list[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    last = positional[len(positional) - len(arguments.defaults) :]
    return [*(each.arg for each in last), *(each.arg for each, default in named if default is not None)]


def _is_write(node: ast.AST, own: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attribute)):
            return attribute in _WRITES and not _is_own(value, own)
        case ast.Call(func=ast.Name(id="next" | "setattr" | "delattr"), args=[value, *_]):
            return not _is_own(value, own)
        case ast.Attribute(value=value, ctx=ast.Store() | ast.Del()):
            return not _is_own(value, own)
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            return not _is_own(value, own)
        case ast.AugAssign(target=ast.Name() as target, value=value):
            return not _is_own(target, own) and not isinstance(value, _NUMERIC)
    return False


def _is_own(value: ast.expr, own: set[str]) -> bool:
    """Whether it was made in the call: by a name, or on the spot."""
    return value.id in own if isinstance(value, ast.Name) else _is_fresh(value)


def _refused(function: FunctionType, tree: ast.FunctionDef, node: ast.AST) -> UsageError:
    code = function.__code__
    line = code.co_firstlineno + getattr(node, "lineno", 1) - 1
    return UsageError(
        f"{located(code.co_filename, line)}: round {function.__qualname__} remembers something from call to call "
        f"in `{ast.unparse(node)}`",
        "let what a sub-round returns depend on its arguments alone",
    )
