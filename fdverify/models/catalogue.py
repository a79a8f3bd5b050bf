"""Finding a model: one that ships, or ``file.py:NAME`` of the user's."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
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


@cache
def load_module(path: Path) -> ModuleType:
    """Run a user's Python file, once; whatever is wrong with it is said in one line that names the place."""
    if not path.is_file():
        raise UsageError(f"no such file: {nearby(path)}")
    # A name of its own, so that a user's random.py does not stand in for Python's.
    name = f"fdverify_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_SourceAsItIs(name, str(path.resolve())))
    assert spec is not None, "a path with a loader has a spec"
    assert spec.loader is not None, "and keeps it"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with _neighbours_importable(path.resolve().parent):
            spec.loader.exec_module(module)
    except SyntaxError as error:
        raise UsageError(f"{located(error.filename or path, error.lineno or 1)}: {error.msg}") from error
    except FdverifyError:
        raise
    except (Exception, SystemExit) as error:  # a user's file may raise anything
        raise in_user_file(error, path) from error
    return module


class _SourceAsItIs(SourceFileLoader):
    """Compiles what the file says now.

    Python's own loader takes bytecode for current if the file has the same size and second of change: two edits in a
    second would be one.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Neighbours(MetaPathFinder):
    """Finds the modules beside a file; Python's own modules come first, as they do for everyone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def finds(self, name: str) -> bool:
        reserved = name in sys.stdlib_module_names or name in ("fdverify", "__main__")
        return not reserved and (self._folder / f"{name}.py").is_file()

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        file = self._folder / f"{fullname}.py"
        if path is not None or not self.finds(fullname):
            return None
        return importlib.util.spec_from_file_location(fullname, file, loader=_SourceAsItIs(fullname, str(file)))


@contextmanager
def _neighbours_importable(folder: Path) -> Iterator[None]:
    """Let a file import those beside it, whatever else has their names in this process, and forget them after."""
    finder = _Neighbours(folder)
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if "." not in name and finder.finds(name)}
    before = set(sys.modules)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "").parent == folder:
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
