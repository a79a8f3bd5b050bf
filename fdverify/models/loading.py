"""Running users' Python files: in their current version, with their neighbours, and with errors attributed to them."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from fdverify.errors import (
    FdverifyError,
    SourceLocation,
    UsageError,
    UserInterrupt,
    add_place,
    format_one_line,
    get_class_name,
    iterate_causes,
    shorten_path,
)


@dataclass(frozen=True)
class _LoadedFile:
    """A user's file that was run: its contents and its neighbours' at that time, and the neighbours that were run."""

    module: ModuleType
    contents: dict[Path, bytes]
    neighbours: dict[str, ModuleType]

    def is_current(self) -> bool:
        return all(path.is_file() and path.read_bytes() == content for path, content in self.contents.items())


_loaded: dict[Path, _LoadedFile] = {}
"""Files that were run in this process: running one again may take long, or print again."""
_read: dict[Path, dict[Path, bytes]] = {}
"""For each requested file, the files read for it and their contents, even if running it failed."""
_running: list[_LoadedFile] = []
"""Files that are being run: one may ask for a model in another one."""
_user_files: set[str] = set()
"""The names of all users' files that were run in this process, as their code has them."""
_USERS = "fdverify_user_"


def is_user_module(module: str) -> bool:
    """Return whether a module of this name is a user's file that was loaded here."""
    return module.startswith(_USERS)


def is_user_file(name: str) -> bool:
    """Return whether code with this file name belongs to a user's file that was run here."""
    return name in _user_files


def find_user_file(code: object) -> Path | None:
    """Return the user's file in which a function was defined, if it was loaded here."""
    file = Path(getattr(getattr(code, "__code__", None), "co_filename", ""))
    return file if file in _loaded else None


def collect_loaded_contents() -> dict[Path, bytes]:
    """Return all users' files that were run in this process, with neighbours, and their contents at that time."""
    return {path: content for loaded in _loaded.values() for path, content in loaded.contents.items()}


def collect_all_contents() -> dict[Path, bytes]:
    """Return the contents of all users' files that were read to be run in this process, even if running one failed."""
    return {path: content for contents in _read.values() for path, content in contents.items()}


def collect_versions(file: Path) -> set[bytes]:
    """Return all contents with which a user's file was run in this process; it may have been changed in between."""
    versions = (loaded.contents.get(file) for loaded in _loaded.values())
    return {content for content in versions if content is not None}


def find_neighbours(file: Path) -> dict[str, ModuleType]:
    """Return the modules beside a user's file that were run for it, by the names under which it imports them."""
    for path, loaded in _loaded.items():
        if file == path or file in loaded.contents:
            return loaded.neighbours
    return {}


def collect_contents_read(path: Path) -> dict[Path, bytes]:
    """Return the contents read to run a user's file: of the file, its neighbours and the models it names."""
    return dict(_read.get(path.resolve(), {}))


def load_module(path: Path) -> ModuleType:
    """Run a user's Python file unless its current version was run; report an error in one line with its place."""
    if path.is_dir():
        raise UsageError(f"{shorten_path(path)} is a folder", "name a file in it")
    if not path.is_file():
        raise UsageError(f"no such file: {shorten_path(path)}")
    known = _loaded.get(path.resolve())
    try:
        if known is None or not known.is_current():
            known = _loaded[path.resolve()] = _run_file(path)
    finally:
        contents = collect_contents_read(path)
        for outer in _running:
            outer.contents.update(contents)
            if path.resolve() in contents:  # by a link, which may lead elsewhere the next time
                outer.contents[path.absolute()] = contents[path.resolve()]
    return known.module


def _run_file(path: Path) -> _LoadedFile:
    # The prefix keeps a user's random.py from replacing Python's.
    name = f"{_USERS}{path.stem}"
    contents = _read[path.resolve()] = dict[Path, bytes]()
    loader = _CurrentSourceLoader(name, str(path.resolve()), contents)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None, "a path with a loader has a spec"
    loaded = _LoadedFile(importlib.util.module_from_spec(spec), contents, {})
    sys.modules[spec.name] = loaded.module
    _running.append(loaded)
    try:
        with _allow_imports(path, loaded), redirect_stdout(sys.stderr):  # stdout is for the answer of a command
            loader.exec_module(loaded.module)
    except SyntaxError as error:
        raise UsageError(error.msg, place=_locate_syntax_error(error, path)) from error
    except UsageError as error:
        raise _add_line(error, path) from None
    except BaseException as error:  # a user's file may raise anything
        if _is_not_users_fault(error):
            raise
        raise build_user_error(error, path) from error
    finally:
        _running.pop()
    return loaded


def _locate_syntax_error(error: SyntaxError, path: Path) -> SourceLocation:
    """Locate a syntax error, which an author may have raised with any objects as file and line."""
    file = error.filename if isinstance(error.filename, str) else path
    line = error.lineno if isinstance(error.lineno, int) else 1
    return SourceLocation(Path(file or path), line or 1)


class _CurrentSourceLoader(SourceFileLoader):
    """A loader that compiles the current contents of a file, and records them.

    Python's own loader accepts cached bytecode if the size and the second of modification agree, so it may miss the
    second of two edits within a second.
    """

    def __init__(self, fullname: str, path: str, contents: dict[Path, bytes]) -> None:
        super().__init__(fullname, path)
        self._contents = contents

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        self._contents[Path(path)] = content = self.get_data(path)
        _user_files.add(path)
        return self.source_to_code(content, path)


class _NeighbourFinder(MetaPathFinder):
    """A finder of modules and packages beside a file; Python's own and this package's libraries take precedence."""

    def __init__(self, folder: Path, contents: dict[Path, bytes], also: Path | None) -> None:
        self._folder = folder
        self._contents = contents
        self._names = _list_module_names(folder) - {*sys.stdlib_module_names, *LIBRARIES}
        self._ambiguous = self._names & _list_module_names(also) if also is not None and also != folder else set[str]()

    def can_find(self, fullname: str) -> bool:
        return fullname.partition(".")[0] in self._names

    def is_ambiguous(self, fullname: str) -> bool:
        return fullname.partition(".")[0] in self._ambiguous

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        if not self.can_find(fullname):
            return None
        if self.is_ambiguous(fullname):
            raise ImportError(f"{fullname} exists beside the proof and beside its model; import it at module level")
        spec = PathFinder.find_spec(fullname, [str(self._folder)] if path is None else path)
        if spec is not None and spec.origin is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _CurrentSourceLoader(fullname, spec.origin, self._contents)
        return spec


LIBRARIES = frozenset(
    {"fdverify", "__main__", "z3", "numpy", "networkx", "msgspec", "rich", "typer", "click", "platformdirs"}
    | {"itf_py", "pysmt", "cvc5", "six", "pytest", "_pytest", "pluggy", "xdist", "execnet"}
)
"""Modules that this package uses or runs under; users' modules must not replace them."""


def _list_module_names(folder: Path) -> set[str]:
    try:
        inside = list(folder.iterdir())
    except OSError:  # it cannot be listed, or is gone
        return set()
    files = {path.stem for path in inside if path.suffix == ".py"}
    folders = {path for path in inside if path.is_dir() and any(path.glob("*.py"))}
    return files | {
        path.name for path in folders if (path / "__init__.py").is_file() or not _is_importable_elsewhere(path.name)
    }


def _is_importable_elsewhere(name: str) -> bool:
    """Return whether a module of this name exists; Python prefers it to a folder without ``__init__.py``."""
    spec = PathFinder.find_spec(name)
    return spec is not None and spec.origin is not None


@contextmanager
def allow_neighbour_imports(file: Path, model: Path | None = None) -> Iterator[None]:
    """Let code of a loaded file import its neighbours, as it could while the file was loaded.

    Which of two files runs an import cannot be told, so a module that is also beside the model's file is refused.
    """
    loaded = _loaded.get(file.resolve())
    with nullcontext() if loaded is None else _allow_imports(file, loaded, model):
        yield


@contextmanager
def _allow_imports(file: Path, loaded: _LoadedFile, model: Path | None = None) -> Iterator[None]:
    """Let a file import its neighbours, once each, whatever else has those names in this process."""
    finder = _NeighbourFinder(file.resolve().parent, loaded.contents, None if model is None else model.parent)
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if finder.can_find(name)}
    sys.modules.update({name: module for name, module in loaded.neighbours.items() if not finder.is_ambiguous(name)})
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        own = [name for name in sys.modules if finder.can_find(name)]
        loaded.neighbours.update({name: sys.modules.pop(name) for name in own})
        sys.modules.update(hidden)


@contextmanager
def blame_errors_on(file: Path) -> Iterator[None]:
    """Turn an exception of an author's code into a usage error at the last line of the file it passed through."""
    try:
        yield
    except BaseException as error:
        blamed = _find_fault(error, file)
        if blamed is None or blamed is error:
            raise
        raise blamed from error


def _find_fault(error: BaseException, file: Path) -> UsageError | None:
    """Return what is wrong with a user's file; ``None`` if no user's file is at fault."""
    line = find_line_in(error, file)
    if _is_not_users_fault(error):
        return _add_line(error, file) if isinstance(error, UsageError) else None
    return blame_user_file(error) if line is None else build_user_error(error, file)


def _is_not_users_fault(error: BaseException) -> bool:
    """Return whether it is an error of this package, a lack of memory, or Ctrl-C."""
    return is_package_error(error) or isinstance(error, MemoryError) or is_interrupt(error)


def is_package_error(error: BaseException) -> bool:
    """Return whether its class is one of this package."""
    return isinstance(error, FdverifyError) and type(error).__module__.partition(".")[0] == "fdverify"


def is_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C was pressed.

    An author may raise KeyboardInterrupt, too.  Where commands run, Ctrl-C raises a class of its own, and in a worker
    process it raises nothing; elsewhere the two cannot be told apart.
    """
    plain = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and (plain or isinstance(error, UserInterrupt))


def blame_user_file(error: BaseException) -> UsageError | None:
    """Attribute an error, or its cause, to the user's file it passed through last; ``None`` if there is none."""
    files = {path for contents in _read.values() for path in contents}
    for reason in iterate_causes(error):
        place, trace = None, reason.__traceback__
        while trace is not None:
            path = Path(trace.tb_frame.f_code.co_filename)
            place = SourceLocation(path, trace.tb_lineno) if path in files else place
            trace = trace.tb_next
        if place is not None:
            return _build_error_at(reason, place)
    return None


def _add_line(error: UsageError, file: Path) -> UsageError:
    """Add the last line of the file that the error passed through, unless the error has a place."""
    line = find_line_in(error, file)
    if line is None:
        return error
    place = SourceLocation(file, line)
    return add_place(error, place) if is_package_error(error) else _build_error_at(error, place)


def build_user_error(error: BaseException, path: Path) -> UsageError:
    """Turn an exception into a usage error at the last line of a user's file that it passed through."""
    return _build_error_at(error, SourceLocation(path, find_line_in(error, path) or 0))


def _build_error_at(error: BaseException, place: SourceLocation) -> UsageError:
    return UsageError(f"{get_class_name(error)}: {format_one_line(error)}", place=place)


def find_line_in(error: BaseException, path: Path) -> int | None:
    """Return the last line of a file that an exception passed through."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == path.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
