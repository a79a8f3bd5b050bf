"""The source of functions: the owner of its file, and the node of the parsed file."""

from __future__ import annotations

import ast
import linecache
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from importlib.util import decode_source
from pathlib import Path
from types import CodeType
from typing import TypeAlias

import fdverify
from fdverify.models.loading import collect_versions

FunctionNode: TypeAlias = ast.FunctionDef | ast.Lambda

_PACKAGE = str(Path(fdverify.__file__).parent)
AS_BY_AUTHORS = ("detectors", "parts", "invariants", "templates")
"""The folders of this package that are written as an author would write them."""
_SHIPPED = tuple(f"{_PACKAGE}/{folder}/" for folder in AS_BY_AUTHORS)
_STANDARD = tuple({f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib")})
_INSTALLED = ("/site-packages/", "/dist-packages/")


class FileOwner(Enum):
    """The owner of a file."""

    AUTHOR = auto()
    INSTALLED = auto()
    STANDARD = auto()
    PACKAGE = auto()


@cache
def find_owner(file: str) -> FileOwner:
    """Find the owner of a file of code by its path."""
    path = file.replace("\\", "/")
    if path.startswith(f"{_PACKAGE}/"):
        return FileOwner.AUTHOR if path.startswith(_SHIPPED) else FileOwner.PACKAGE
    if any(folder in path for folder in _INSTALLED):
        return FileOwner.INSTALLED
    return FileOwner.STANDARD if path.startswith(_STANDARD) or path.startswith("<frozen") else FileOwner.AUTHOR


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A parsed file."""

    path: str
    text: str
    tree: ast.Module
    codes: frozenset[CodeType]
    """What the file compiles to: a function with other code was compiled from something else."""
    indexed: dict[ast.stmt, dict[int, list[FunctionNode]]] = field(default_factory=dict)
    """The functions in each statement that was searched, by their first lines."""

    def find_functions(self, line: int) -> list[FunctionNode]:
        """Find the functions whose code begins on a line."""
        for statement in self.tree.body:
            if _find_first_line(statement) <= line <= (statement.end_lineno or line) and statement not in self.indexed:
                self.indexed[statement] = by_line = dict[int, list[FunctionNode]]()
                for node in ast.walk(statement):
                    if isinstance(node, ast.FunctionDef | ast.Lambda):
                        by_line.setdefault(_find_first_line(node), []).append(node)
        return [node for functions in self.indexed.values() for node in functions.get(line, ())]

    def format_node(self, node: ast.AST) -> str:
        """Return the source of a node, in one line."""
        return " ".join((ast.get_source_segment(self.text, node) or "").split())


_parsed: dict[tuple[str, str], SourceFile | None] = {}
_nodes: dict[CodeType, tuple[CodeType, SourceFile, FunctionNode] | None] = {}


def find_node(code: CodeType) -> tuple[SourceFile, FunctionNode] | None:
    """Find the source of a function; ``None`` if it cannot be read or is not what was compiled."""
    entry = _nodes.get(code)
    # Equal code objects may come from different files.
    if entry is None or entry[0] is not code:
        places = (
            (source, _find_function(source, code))
            for source in _generate_sources(code.co_filename)
            if code in source.codes
        )
        entry = next(((code, source, node) for source, node in places if node is not None), None)
        _nodes[code] = entry
    return None if entry is None else entry[1:]


def _generate_sources(file: str) -> Iterator[SourceFile]:
    """Yield what a file says, or what it said when it was run."""
    versions = collect_versions(Path(file))
    for text in map(_decode_text, versions) if versions else ("".join(linecache.getlines(file)),):
        if (file, text) not in _parsed:
            _parsed[file, text] = _parse_file(file, text) if text else None
        source = _parsed[file, text]
        if source is not None:
            yield source


def _decode_text(content: bytes) -> str:
    """Decode a Python file in the encoding that it declares."""
    try:
        return decode_source(content)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return ""


def _parse_file(file: str, text: str) -> SourceFile | None:
    try:
        tree = ast.parse(text)
        whole = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return SourceFile(file, text, tree, frozenset(_list_codes(whole)))


def _list_codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _list_codes(constant)


def _find_first_line(node: ast.stmt | ast.Lambda) -> int:
    """Return the line on which the code of a function begins: that of its first decorator, if it has one."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _find_function(source: SourceFile, code: CodeType) -> FunctionNode | None:
    fitting = [node for node in source.find_functions(code.co_firstlineno) if _has_parameters_of(node, code)]
    if len(fitting) <= 1:
        return fitting[0] if fitting else None
    # Several functions begin on this line: take the innermost one that spans all of the code.
    spans = [
        (line, column, last_line, last_column)
        for line, last_line, column, last_column in code.co_positions()
        if line is not None and last_line is not None and column is not None and last_column and column < last_column
    ]
    around = [node for node in fitting if spans and all(_is_within(span, node) for span in spans)]
    return max(around, key=lambda node: (node.lineno, node.col_offset)) if around else None


def _has_parameters_of(node: FunctionNode, code: CodeType) -> bool:
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    arguments = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    number = code.co_argcount + code.co_kwonlyargcount
    return code.co_name == name and _unmangle_names(code.co_varnames[:number]) == _unmangle_names(tuple(arguments))


def _unmangle_names(names: tuple[str, ...]) -> list[str]:
    """Remove the prefix that Python gives to names that are private to a class."""
    return [name.rpartition("__")[2] if "__" in name else name for name in names]


def _is_within(span: tuple[int, int, int, int], node: FunctionNode) -> bool:
    body = node.body if isinstance(node, ast.Lambda) else node
    line, column, last_line, last_column = span
    assert body.end_lineno is not None, "parsed nodes have an end"
    assert body.end_col_offset is not None, "parsed nodes have an end"
    begins = (body.lineno, body.col_offset) <= (line, column)
    return begins and (last_line, last_column) <= (body.end_lineno, body.end_col_offset)
