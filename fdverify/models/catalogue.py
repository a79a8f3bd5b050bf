"""Finding a model: one that ships, or ``file.py:NAME`` of the user's."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

from fdverify.errors import FdverifyError, UsageError, located
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
        raise UsageError(f"no such file: {path}")
    # A name of its own, so that a user's random.py does not stand in for Python's.
    spec = importlib.util.spec_from_file_location(f"fdverify_user_{path.stem}", path)
    assert spec is not None, "a path that ends in .py has a spec"
    assert spec.loader is not None, "and a loader"
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


@contextmanager
def _neighbours_importable(folder: Path) -> Iterator[None]:
    """Let a file import those beside it, and forget them after: another folder may have files of the same names."""
    before = set(sys.modules)
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        new = {name: sys.modules[name] for name in set(sys.modules) - before}
        for name in new:
            if _lies_in(new.get(name.partition(".")[0]), folder):
                del sys.modules[name]


def _lies_in(module: ModuleType | None, folder: Path) -> bool:
    """Whether a top-level module is a file of this folder, or a package in it."""
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    path = Path(file).resolve()
    return folder == (path.parent.parent if path.name == "__init__.py" else path.parent)


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
