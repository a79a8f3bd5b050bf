"""The source of functions: whose file it is in, and which node of the parsed file a function is."""

from __future__ import annotations

import ast
import linecache
import sysconfig
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from pathlib import Path
from types import CodeType
from typing import TypeAlias

import fdverify
from fdverify.models.user_files import loaded_contents

FunctionNode: TypeAlias = ast.FunctionDef | ast.Lambda

_PACKAGE = str(Path(fdverify.__file__).parent)
_SHIPPED = tuple(f"{_PACKAGE}/{folder}/" for folder in ("models/chandra_toueg", "invariants", "templates"))
"""What ships and is written as an author would write it."""
_STANDARD = tuple({f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib")})
_INSTALLED = ("/site-packages/", "/dist-packages/")


class Owner(Enum):
    """Whose file it is."""

    AUTHOR = auto()
    INSTALLED = auto()
    STANDARD = auto()
    PACKAGE = auto()


@cache
def owner_of(file: str) -> Owner:
    """Whose a file of code is, by where it lies."""
    path = file.replace("\\", "/")
    if path.startswith(f"{_PACKAGE}/"):
        return Owner.AUTHOR if path.startswith(_SHIPPED) else Owner.PACKAGE
    if any(folder in path for folder in _INSTALLED):
        return Owner.INSTALLED
    return Owner.STANDARD if path.startswith(_STANDARD) or path.startswith("<frozen") else Owner.AUTHOR


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A parsed file, with its functions by the line on which their code begins."""

    path: str
    text: str
    functions: dict[int, list[FunctionNode]]

    def code_of(self, node: ast.AST) -> str:
        """What is written there, in one line."""
        return " ".join((ast.get_source_segment(self.text, node) or "").split())


_parsed: dict[tuple[str, str], SourceFile | None] = {}
_nodes: dict[CodeType, tuple[CodeType, SourceFile, FunctionNode] | None] = {}


def node_of(code: CodeType) -> tuple[SourceFile, FunctionNode] | None:
    """Where the source of a function is; ``None`` if it cannot be read or is not what was compiled."""
    found = _nodes.get(code)
    # Codes that are equal may be of different files.
    if found is None or found[0] is not code:
        source = _source_of(code.co_filename)
        node = None if source is None else _find(source, code)
        found = None if source is None or node is None else (code, source, node)
        _nodes[code] = found
    return None if found is None else found[1:]


def _source_of(file: str) -> SourceFile | None:
    content = loaded_contents().get(Path(file))
    try:
        text = "".join(linecache.getlines(file)) if content is None else ast_text(content)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None
    if (file, text) not in _parsed:
        _parsed[file, text] = _parse(file, text) if text else None
    return _parsed[file, text]


def ast_text(content: bytes) -> str:
    """The text of a Python file, whatever encoding it declares."""
    from importlib.util import decode_source

    return decode_source(content)


def _parse(file: str, text: str) -> SourceFile | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    functions: dict[int, list[FunctionNode]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            functions.setdefault(_first_line(node), []).append(node)
    return SourceFile(file, text, functions)


def _first_line(node: FunctionNode) -> int:
    """The line on which the code of a function begins: that of its first decorator, if it has one."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _find(source: SourceFile, code: CodeType) -> FunctionNode | None:
    fitting = [node for node in source.functions.get(code.co_firstlineno, []) if _fits(node, code)]
    if len(fitting) <= 1:
        return fitting[0] if fitting else None
    # Several functions begin on this line: the innermost one that spans all of the code.
    spans = [
        (line, column, last_line, last_column)
        for line, last_line, column, last_column in code.co_positions()
        if line is not None and last_line is not None and column is not None and last_column and column < last_column
    ]
    around = [node for node in fitting if spans and all(_within(span, node) for span in spans)]
    return max(around, key=lambda node: (node.lineno, node.col_offset)) if around else None


def _fits(node: FunctionNode, code: CodeType) -> bool:
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    arguments = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    number = code.co_argcount + code.co_kwonlyargcount
    return code.co_name == name and _mangled(code.co_varnames[:number]) == _mangled(tuple(arguments))


def _mangled(names: tuple[str, ...]) -> list[str]:
    """Names without what Python puts before those that are private to a class."""
    return [name.rpartition("__")[2] if "__" in name else name for name in names]


def _within(span: tuple[int, int, int, int], node: FunctionNode) -> bool:
    body = node.body if isinstance(node, ast.Lambda) else node
    line, column, last_line, last_column = span
    assert body.end_lineno is not None, "parsed nodes have an end"
    assert body.end_col_offset is not None, "parsed nodes have an end"
    begins = (body.lineno, body.col_offset) <= (line, column)
    return begins and (last_line, last_column) <= (body.end_lineno, body.end_col_offset)
