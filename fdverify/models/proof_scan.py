"""Static detection of proof files: whether loading a Python file would create a proof, judged from its text.

Running every file to find out might have side effects.  What counts is a use of ``Proof``, under any name, in code that
runs when the file is loaded: at module level, or in a function or class used there, in the file or a module beside it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([\w.]+)", flags=re.MULTILINE)
_WRITTEN = re.compile(rb"\bProof\b")
_PACKAGE, _PROOF = "fdverify", "Proof"
_DOTTED = (ast.Name, ast.Attribute)
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def has_proof(path: Path) -> bool:
    """Return whether the file seems to create a proof; one that does not parse does if it mentions one."""
    text = _read_bytes(path)
    if text is None or not _concerns_package(text, path.parent):
        return False
    source = _ParsedFile.parse(path)
    if source is None:
        return _WRITTEN.search(text) is not None and _PACKAGE.encode() in text
    return source.can_use_proof(source.list_loaded_statements())


def has_tests(path: Path) -> bool:
    """Return whether the file defines functions or classes that pytest would collect, judged by their names."""
    text = _read_bytes(path)
    if text is None:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # pytest reports what is wrong with it
    return any(isinstance(node, _Function) and node.name.lower().startswith("test") for node in ast.walk(tree))


def mentions_package(path: Path) -> bool:
    """Return whether the text of the file mentions this package."""
    return _PACKAGE.encode() in (_read_bytes(path) or b"")


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _concerns_package(text: bytes, folder: Path) -> bool:
    """Return whether a file, or a module beside it that it imports, mentions the package; most need no parsing."""
    if _PACKAGE.encode() in text:
        return True
    modules = {name.decode() for name in _IMPORTED.findall(text)}
    inside = (path for name in modules for path in folder.joinpath(*name.split(".")).glob("*.py"))
    return any(map(_mentions_proof, (path for name in modules for path in _find_module_files(folder, name)))) or any(
        map(_mentions_proof, inside)
    )


def _find_module_files(folder: Path, module: str) -> list[Path]:
    """List the files in a folder that a module of this, possibly dotted, name may be."""
    path = folder.joinpath(*module.split("."))
    return [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]


def _mentions_proof(path: Path) -> bool:
    text = _read_bytes(path)
    return text is not None and (_PACKAGE.encode() in text or _WRITTEN.search(text) is not None)


class _ParsedFile:
    """A parsed file, and what its names stand for as far as that matters here."""

    def __init__(self, folder: Path, tree: ast.Module) -> None:
        self._folder = folder
        self._tree = tree
        self._functions: dict[str, list[ast.AST]] = {}
        """For each name, the code that runs when it is used: bodies of functions and classes, and assigned values."""
        self._makers: set[str] = set()
        """Names that stand for ``Proof`` itself."""
        self._modules: dict[str, list[Path]] = {}
        """Imported modules beside the file, by their names here."""
        self._imported: dict[str, list[tuple[Path, str]]] = {}
        """Files and original names of what was imported from such modules, by its name here."""
        for node in ast.walk(tree):
            self._record_node(node)

    @staticmethod
    def parse(path: Path) -> _ParsedFile | None:
        text = _read_bytes(path)
        return None if text is None else _parse_source(path.parent, text)

    def _record_node(self, node: ast.AST) -> None:
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for name in names:
                    self._record_import(module, name)
            case ast.Import(names=names):
                for name in names:
                    self._modules.setdefault(name.asname or name.name, []).extend(
                        _find_module_files(self._folder, name.name)
                    )
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._functions.setdefault(node.name, []).append(node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._record_value(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._record_value(target, value)

    def _record_import(self, module: str, name: ast.alias) -> None:
        known = name.asname or name.name
        if name.name == _PROOF or (name.name == "*" and module.partition(".")[0] == _PACKAGE):
            self._makers.add(_PROOF if name.name == "*" else known)
            return
        beside = _find_module_files(self._folder, module)
        self._imported.setdefault(known, []).extend((path, name.name) for path in beside)
        self._modules.setdefault(known, []).extend(_find_module_files(self._folder, f"{module}.{name.name}"))

    def _record_value(self, target: ast.expr, value: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self._functions.setdefault(node.id, []).append(value)

    def list_loaded_statements(self) -> list[ast.AST]:
        """List the statements that run when the file is loaded."""
        return list(_list_statements(self._tree))

    def can_use_proof(self, code: list[ast.AST], seen: frozenset[tuple[Path, str]] = frozenset()) -> bool:
        """Return whether running this code may use ``Proof``."""
        waiting, known = list(code), set[str]()
        while waiting:
            for node in _walk_executed_nodes(waiting.pop()):
                if isinstance(node, ast.Attribute) and (node.attr == _PROOF or self._is_module_maker(node, seen)):
                    return True
                if isinstance(node, ast.Call) and _is_proof_lookup(node):
                    return True
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known:
                    known.add(node.id)
                    if node.id in self._makers or self._is_imported_maker(node.id, seen):
                        return True
                    waiting += [part for each in self._functions.get(node.id, ()) for part in _list_executed_code(each)]
        return False

    def _is_imported_maker(self, name: str, seen: frozenset[tuple[Path, str]]) -> bool:
        starred = self._imported.get("*", [])
        origins = [*self._imported.get(name, ()), *((path, name) for path, _ in starred)]
        return any(_can_use_proof_in(path, original, seen) for path, original in origins)

    def _is_module_maker(self, node: ast.Attribute, seen: frozenset[tuple[Path, str]]) -> bool:
        paths = self._modules.get(ast.unparse(node.value), []) if isinstance(node.value, _DOTTED) else []
        return any(_can_use_proof_in(path, node.attr, seen) for path in paths)

    def can_use_proof_by(self, name: str, seen: frozenset[tuple[Path, str]]) -> bool:
        """Return whether using this name of the module may use ``Proof``."""
        return self.can_use_proof([ast.Name(name, ast.Load())], seen)


def _is_proof_lookup(call: ast.Call) -> bool:
    """Return whether the call is ``getattr(module, "Proof")``."""
    by_name = isinstance(call.func, ast.Name) and call.func.id == "getattr"
    return by_name and any(isinstance(argument, ast.Constant) and argument.value == _PROOF for argument in call.args)


def _can_use_proof_in(path: Path, name: str, seen: frozenset[tuple[Path, str]]) -> bool:
    """Return whether using a name of another file may use ``Proof``."""
    if (path, name) in seen:
        return False
    source = _ParsedFile.parse(path)
    return source is not None and source.can_use_proof_by(name, seen | {(path, name)})


@lru_cache(maxsize=64)
def _parse_source(folder: Path, text: bytes) -> _ParsedFile | None:
    try:
        return _ParsedFile(folder, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _list_statements(tree: ast.Module | ast.ClassDef) -> Iterator[ast.AST]:
    """Yield the statements of a body, except those that run only in a script or for type checking."""
    for node in tree.body:
        if not (isinstance(node, ast.If) and _is_false_on_import(node.test)):
            yield node
        else:
            yield from node.orelse


def _is_false_on_import(test: ast.expr) -> bool:
    """Return whether a condition is false while the file is loaded as a module."""
    words = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    texts = {node.value for node in ast.walk(test) if isinstance(node, ast.Constant)}
    compares = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)
    is_script = compares and "__name__" in words and "__main__" in texts
    return is_script or (words == {"TYPE_CHECKING"} and isinstance(test, _DOTTED))


def _list_executed_code(node: ast.AST) -> list[ast.AST]:
    """List the code that runs when a name of this node is used: a function may be called, a class instantiated."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return list(node.body)
    if isinstance(node, ast.ClassDef):
        return [*node.bases, *(part for statement in node.body for part in _list_executed_code(statement))]
    return [node]


def _walk_executed_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of code that runs at once, without annotations and without bodies that are only defined."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            parts: list[ast.AST] = [*node.decorator_list, *node.args.defaults]
        case ast.ClassDef():
            parts = [*node.decorator_list, *(part for part in node.body if not isinstance(part, _Function))]
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[first, *_]):
            parts = [first]
        case ast.AnnAssign(value=value):
            parts = [] if value is None else [value]
        case ast.If() if _is_false_on_import(node.test):
            parts = list(node.orelse)
        case _:
            parts = list(ast.iter_child_nodes(node))
    yield node
    for part in parts:
        yield from _walk_executed_nodes(part)
