"""Finding a model: one that ships, or ``file.py:NAME`` of the user's."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from fdverify.errors import FdverifyError, UsageError, located, nearby
from fdverify.models.chandra_toueg import CHANDRA_TOUEG
from fdverify.models.model import Model
from fdverify.models.system import did_you_mean

SHIPPED = {model.name: model for model in (CHANDRA_TOUEG,)}
DEFAULT = CHANDRA_TOUEG.name


def is_file_reference(reference: str) -> bool:
    return ".py:" in reference or reference.endswith(".py")


def find_model(reference: str) -> Model:
    if reference in SHIPPED:
        return SHIPPED[reference]
    if not is_file_reference(reference):
        raise UsageError(f"unknown model {reference}", f"{did_you_mean(reference, SHIPPED)} or file.py:NAME")
    file, _, name = reference.rpartition(":")
    if not file.endswith(".py"):
        raise UsageError(f"{reference} does not name a model", "write file.py:NAME")
    found = getattr(load_module(Path(file)), name, None)
    if not isinstance(found, Model):
        raise UsageError(f"{file} has no model {name}", "define NAME = Model(...) in it")
    return found


@dataclass(frozen=True)
class _Loaded:
    """A user's file that was run, and what it and its neighbours said then."""

    module: ModuleType
    contents: Mapping[Path, bytes]

    def is_current(self) -> bool:
        return all(path.is_file() and path.read_bytes() == content for path, content in self.contents.items())


_loaded: dict[Path, _Loaded] = {}
"""What was run in this process: running a file again may take long, or print again."""


def load_module(path: Path) -> ModuleType:
    """Run a user's Python file, once as it is; whatever is wrong with it is said in one line that names the place."""
    if not path.is_file():
        raise UsageError(f"no such file: {nearby(path)}")
    known = _loaded.get(path.resolve())
    if known is None or not known.is_current():
        known = _loaded[path.resolve()] = _run(path)
    return known.module


def _run(path: Path) -> _Loaded:
    # A name of its own, so that a user's random.py does not stand in for Python's.
    name = f"fdverify_user_{path.stem}"
    contents: dict[Path, bytes] = {}
    loader = _SourceAsItIs(name, str(path.resolve()), contents)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None, "a path with a loader has a spec"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with neighbours_importable(path, contents):
            loader.exec_module(module)
    except SyntaxError as error:
        raise UsageError(f"{located(error.filename or path, error.lineno or 1)}: {error.msg}") from error
    except FdverifyError:
        raise
    except (Exception, SystemExit) as error:  # a user's file may raise anything
        raise in_user_file(error, path) from error
    return _Loaded(module, contents)


class _SourceAsItIs(SourceFileLoader):
    """Compiles what the file says now, and notes it.

    Python's own loader takes bytecode for current if the file has the same size and second of change: two edits in a
    second would be one.
    """

    def __init__(self, fullname: str, path: str, contents: dict[Path, bytes]) -> None:
        super().__init__(fullname, path)
        self._contents = contents

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        self._contents[Path(path)] = content = self.get_data(path)
        return self.source_to_code(content, path)


class _Neighbours(MetaPathFinder):
    """Finds the modules and packages beside a file; Python's own and the libraries in use come first."""

    def __init__(self, folder: Path, contents: dict[Path, bytes]) -> None:
        self._folder = folder
        self._contents = contents
        self._names = {name for name in map(_module_name, folder.iterdir()) if name is not None}
        self._names -= {"fdverify", "__main__", *sys.stdlib_module_names, *_installed()}

    def finds(self, fullname: str) -> bool:
        return fullname.partition(".")[0] in self._names

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        if not self.finds(fullname):
            return None
        spec = PathFinder.find_spec(fullname, [str(self._folder)] if path is None else path)
        if spec is not None and spec.origin is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _SourceAsItIs(fullname, spec.origin, self._contents)
        return spec


def _installed() -> set[str]:
    """The libraries that this process has loaded; what uses them must not find other modules under their names."""
    folders = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    return {
        name
        for name, module in list(sys.modules.items())
        if "." not in name and (getattr(module, "__file__", None) or "").startswith(folders)
    }


def _module_name(path: Path) -> str | None:
    if path.suffix == ".py":
        return path.stem
    return path.name if path.is_dir() and any(path.glob("*.py")) else None


@contextmanager
def neighbours_importable(file: Path, contents: dict[Path, bytes] | None = None) -> Iterator[None]:
    """Let a file import what is beside it, whatever else has those names in this process, and forget that after."""
    folder = file.resolve().parent
    finder = _Neighbours(folder, {} if contents is None else contents)
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if finder.finds(name)}
    before = set(sys.modules)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if finder.finds(name):
                del sys.modules[name]
        sys.modules.update(hidden)


def in_user_file(error: BaseException, path: Path) -> UsageError:
    """An exception that came out of a user's file, with the last line of that file it passed through."""
    line = line_in(error, path) or 0
    return UsageError(f"{located(path, line)}: {type(error).__name__}: {' '.join(str(error).split())}")


def line_in(error: BaseException, path: Path) -> int | None:
    """The last line of a file that an exception passed through on its way."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == path.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
