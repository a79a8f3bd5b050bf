"""The record of what users' code reads while it runs, so that an outcome can be reused while nothing of it has changed.

Python reports to an audit hook which files are opened and which modules are imported.  An event counts for every
user's file on the stack, whoever acts on its behalf, and for all of them if a library that they use is on the stack.
The environment, and the functions that tell whether a file exists, have no events; they are made to report who asks.
The rest cannot be noticed: the clock, random numbers, and what compiled extensions do by themselves.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, wraps
from hashlib import sha256
from importlib.machinery import PathFinder, all_suffixes
from importlib.util import source_from_cache
from pathlib import Path
from threading import get_ident, main_thread
from time import time_ns
from types import ModuleType
from typing import Any, Literal, NamedTuple

from fdverify.models.loading import LIBRARIES, collect_loaded_contents, find_neighbours, is_user_file, is_user_module

_UNREPEATABLE = (
    "builtins.input",
    "ctypes.dlopen",
    "ctypes.dlsym",
    "fcntl.",
    "ftplib.",
    "glob.",
    "http.",
    "mmap.",
    "os.",
    "pathlib.",
    "pty.",
    "shutil.",
    "signal.",
    "smtplib.",
    "socket.",
    "sqlite3.",
    "subprocess.",
    "tempfile.",
    "urllib.",
)
"""Beginnings of the names of events whose result may differ, or is missed, when the code is not run again."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_SUFFIXES = tuple(all_suffixes())
_INSTALLED = (".dist-info", ".egg-info")
"""The ends of the names of folders that are named after a library and its version."""
_STATUS_FUNCTIONS = ("stat", "lstat", "access", "readlink")
_VERSIONED = LIBRARIES | sys.stdlib_module_names
"""Modules that a record names with their versions, so what they read by themselves is known."""
UNKNOWN_CONTENT = ""
"""Stands for the digest of a file whose content is not known.  No file has it, so what rests on it is never known."""
_STARTED = time_ns()
_ACTING = ("<frozen importlib", str(Path(__file__).parents[1]) + os.sep)
"""The beginnings of the names of files whose code imports modules and loads users' files."""


class Disk:
    """What is on the disk when it is first asked for, however many have read it; make a new one for each moment."""

    def __init__(self) -> None:
        self.digest_file = cache(digest_file)
        self.describe_status = cache(describe_status)
        self.digest_folder = cache(digest_folder)


@dataclass(frozen=True)
class Reads:
    """What users' code has read.  A file or a variable that did not exist is recorded as ``None``."""

    files: Mapping[str, str | None] = field(default_factory=dict)
    """The digests of the files' contents."""
    statuses: Mapping[str, str | None] = field(default_factory=dict)
    """What there was at paths, for code that has only asked whether there is something."""
    folders: Mapping[str, str | None] = field(default_factory=dict)
    """The digests of what can be imported from folders: a new module may replace another one."""
    variables: Mapping[str, str | None] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    """Modules that users' code tried to import in vain."""
    unrepeatable: str | None = None
    """The first event for which the code has to be run again every time."""

    def is_current(self, disk: Disk) -> bool:
        """Return whether users' code would read the same again."""
        return (
            self.unrepeatable is None
            and all(disk.digest_file(path) == digest for path, digest in self.files.items())
            and all(disk.describe_status(path) == status for path, status in self.statuses.items())
            and all(disk.digest_folder(path) == digest for path, digest in self.folders.items())
            and all(os.environ.get(name) == value for name, value in self.variables.items())
            and all(PathFinder.find_spec(name) is None for name in self.missing)
        )

    def merge(self, other: Reads) -> Reads:
        """Merge what two processes have read; it is not repeatable if they have read something differently."""
        pairs: tuple[tuple[Mapping[str, str | None], Mapping[str, str | None]], ...] = (
            (self.files, other.files),
            (self.statuses, other.statuses),
            (self.folders, other.folders),
            (self.variables, other.variables),
        )
        changed = (name for mine, others in pairs for name in mine.keys() & others.keys() if mine[name] != others[name])
        return Reads(
            {**self.files, **other.files},
            {**self.statuses, **other.statuses},
            {**self.folders, **other.folders},
            {**self.variables, **other.variables},
            self.missing | other.missing,
            self.unrepeatable or other.unrepeatable or min(changed, default=None),
        )


def digest_file(path: str | Path) -> str | None:
    """Return the digest of a file, or ``None`` if it is no readable regular file."""
    try:
        return sha256(Path(path).read_bytes()).hexdigest() if Path(path).is_file() else None
    except OSError:
        return None


def describe_status(path: str) -> str | None:
    """Describe what is at a path, and where a link leads; ``None`` if there is nothing.  Times are left out."""
    try:
        own = os.lstat(path)
        target = os.readlink(path) if stat.S_ISLNK(own.st_mode) else ""
        status = os.stat(path) if os.path.exists(path) else own
    except OSError:
        return None
    size = status.st_size if stat.S_ISREG(status.st_mode) else ""
    return f"{own.st_mode:o} {status.st_mode:o} {size} {target}"


def digest_folder(folder: str) -> str | None:
    """Return a digest of what Python finds in a folder: modules, packages, and files and folders of installations.

    An archive of modules, which may be in the place of a folder, counts by its content.
    """
    try:
        with os.scandir(folder) as entries:
            lines = sorted(line for entry in entries if (line := _describe_entry(entry)))
    except NotADirectoryError:
        return digest_file(folder)
    except OSError:
        lines = []
    return sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()


def _describe_entry(entry: os.DirEntry[str]) -> str:
    """Describe an entry of a folder by what it means to Python; it is empty if it means nothing."""
    if entry.name.endswith(".pth"):
        return f"{entry.name} {digest_file(entry.path)}"
    if entry.name.endswith((*_SUFFIXES, *_INSTALLED)):
        return entry.name
    is_package = entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir()
    return f"{entry.name} {_describe_package(entry.path)}" if is_package else ""


def _describe_package(folder: str) -> str:
    """Tell whether a folder is a package, has modules, or has none: a package may take the place of a module."""
    if any(os.path.exists(f"{folder}{os.sep}__init__{suffix}") for suffix in _SUFFIXES):
        return "package"
    try:
        with os.scandir(folder) as entries:
            return "modules" if any(entry.name.endswith(_SUFFIXES) for entry in entries) else ""
    except OSError:
        return ""


@dataclass
class _FileReads:
    """What one user's file, and what it calls, has read."""

    files: dict[str, str | None] = field(default_factory=dict)
    statuses: dict[str, str | None] = field(default_factory=dict)
    variables: dict[str, str | None] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    unrepeatable: str | None = None


class _Recorder:
    """Records the events of this process by the users' files on the stack."""

    def __init__(self) -> None:
        self.by_file: dict[str, _FileReads] = {}
        self.by_libraries = _FileReads()
        """What libraries have read that users' code uses: what they keep of it may concern any file."""
        self.folders: dict[str, str | None] = {}
        """The digests of the folders in which modules were looked for, as they were at first."""
        self.earlier_modules = frozenset(sys.modules)
        self.earlier_files = frozenset(collect_loaded_contents())
        """Users' files that this process, or the one it was forked from, had run before."""
        self._busy_threads: set[int] = set()
        """Recording opens files itself."""
        self._concerns: dict[str, bool] = {}
        """Whether an event may concern users' code, by its name: a solver's interface raises many that do not."""

    def handle_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        concerns = self._concerns.get(event)
        if concerns is None:
            concerns = self._concerns[event] = event in ("open", "import") or event.startswith(_UNREPEATABLE)
        thread = get_ident()
        if not concerns or thread in self._busy_threads:
            return
        self._busy_threads.add(thread)
        try:
            readers, is_direct = self._find_readers()
            if event == "os.fork":  # what the new process reads is not recorded here, whoever has started it
                _mark_unrepeatable([self.by_libraries], event)
            elif not readers:
                return
            elif event == "open":
                self._record_open(readers, *arguments)
            elif event == "import":
                self._record_import(readers, *arguments[1:3])
                if is_direct:
                    for reads in readers:
                        reads.imports.add(arguments[0])
            elif is_direct:
                _mark_unrepeatable(readers, event)
            elif event == "os.listdir":  # Python, or this package, looks for a module
                self.record_folders(arguments[:1])
        finally:
            self._busy_threads.discard(thread)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Record nothing of what this thread reads meanwhile: it is the package's own reading."""
        self._busy_threads.add(get_ident())
        try:
            yield
        finally:
            self._busy_threads.discard(get_ident())

    def record_variable(self, name: Any, value: str | None) -> None:
        if get_ident() not in self._busy_threads:
            for reads in self._find_readers()[0]:
                reads.variables.setdefault(os.fsdecode(name), value)

    def record_status(self, path: Any, is_relative: bool) -> None:
        thread = get_ident()
        if thread in self._busy_threads:
            return
        self._busy_threads.add(thread)
        try:
            readers, is_direct = self._find_readers()
            if not readers or not is_direct:
                return
            if is_relative or isinstance(path, int):
                _mark_unrepeatable(readers, "asks for the status of an open file")
                return
            name = os.path.abspath(os.fsdecode(path))
            _note_value(readers, "statuses", name, describe_status(name))
        finally:
            self._busy_threads.discard(thread)

    def record_listing(self) -> None:
        if get_ident() not in self._busy_threads:
            _mark_unrepeatable(self._find_readers()[0], "reads all environment variables")

    def _find_readers(self) -> tuple[list[_FileReads], bool]:
        """Find the users' files on the stack; tell whether neither an import nor this package acts for the last one."""
        readers: dict[str, _FileReads] = {}
        is_direct = True
        frame = sys._getframe(1)
        while frame is not None:
            name, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
            if is_user_file(name):
                readers[name] = self.by_file.setdefault(name, _FileReads())
            elif module.startswith("fdverify.workers."):
                break  # what called this package is not what is checked
            elif module.partition(".")[0] not in _VERSIONED:
                readers[""] = self.by_libraries
            elif not readers and name.startswith(_ACTING) and name != __file__:
                is_direct = False
            frame = frame.f_back  # type: ignore[assignment]
        if not readers and get_ident() != main_thread().ident:
            return [self.by_libraries], is_direct  # only users' code starts threads here
        return list(readers.values()), is_direct

    def _record_open(self, readers: list[_FileReads], path: Any, mode: str | None, flags: int) -> None:
        if isinstance(path, int):
            _mark_unrepeatable(readers, "opens a file by its number")
            return
        name = os.fsdecode(path)
        if flags & _WRITING:
            if os.path.basename(os.path.dirname(name)) != "__pycache__":
                _mark_unrepeatable(readers, f"writes {name}")
        elif not os.path.isabs(name):
            _mark_unrepeatable(readers, f"opens {name}, which depends on the working directory")
        elif os.path.exists(name) and not os.path.isfile(name):
            _mark_unrepeatable(readers, f"opens {name}, which is no regular file")
        else:
            _record_file(readers, _find_source(name))
            if name.endswith(".pyc") and os.path.exists(name):
                _record_file(readers, name)  # it is what is run, and need not agree with its source

    def _record_import(self, readers: list[_FileReads], compiled: str | None, places: Iterable[str] | None) -> None:
        """Record the file of a compiled module, or else where a module is looked for."""
        if compiled is not None:
            _record_file(readers, compiled)
        self.record_folders(places or ())

    def record_folders(self, places: Iterable[str]) -> None:
        for folder in {os.path.abspath(place) for place in places}.difference(self.folders):
            self.folders[folder] = digest_folder(folder)


def _find_source(name: str) -> str:
    """Return the source of a file with bytecode, which is run in its place, or else the file itself."""
    try:
        return source_from_cache(name) if name.endswith(".pyc") else name
    except ValueError:
        return name


def _record_file(readers: Iterable[_FileReads], name: str) -> None:
    _note_value(readers, "files", name, digest_file(name))


def _note_value(
    readers: Iterable[_FileReads], kind: Literal["files", "statuses"], name: str, value: str | None
) -> None:
    """Note what was read; it is not repeatable if it was something else before."""
    for reads in readers:
        if getattr(reads, kind).setdefault(name, value) != value:
            _mark_unrepeatable([reads], f"{name} was changed")


def _mark_unrepeatable(readers: Iterable[_FileReads], event: str) -> None:
    for reads in readers:
        reads.unrepeatable = reads.unrepeatable or event


_recorders: list[_Recorder] = []
"""The recorder of this process, once there is one: an audit hook cannot be removed."""


def start_recording() -> None:
    """Record from now on what users' code reads in this process."""
    if not _recorders:
        recorder = _Recorder()
        _recorders.append(recorder)
        sys.addaudithook(recorder.handle_event)
        _watch_environment(recorder)
        _watch_statuses(recorder)


def collect_reads(sources: Mapping[Path, str]) -> Reads:
    """Return what these users' files have read so far in this process, the files themselves included.

    Of modules that are installed elsewhere, all that this process has imported are included.
    """
    if not _recorders:
        return Reads(unrepeatable="nothing was recorded")
    recorder = _recorders[0]
    if not recorder.earlier_files.isdisjoint(sources):
        return Reads(unrepeatable="it was run before recording began")
    # A module may be lazy: asking it for its file or its folders runs it, and what it reads then is recorded.
    modules = _list_installed_modules()
    installed = _list_files(modules)
    packages = [*modules.values(), *(module for path in sources for module in find_neighbours(path).values())]
    folders = [*sys.path, *(str(path.parent) for path in sources), *_list_package_folders(packages)]
    with recorder.pause():
        recorder.record_folders(folders)
        digests = _digest_installed_modules(installed, recorder)
    each = [recorder.by_libraries, *(recorder.by_file[str(p)] for p in sources if str(p) in recorder.by_file)]
    files = {name: digest for reads in each for name, digest in reads.files.items()}
    return Reads(
        {
            **digests,
            **files,
            **{str(path): digest for path, digest in sources.items()},
        },
        {name: status for reads in each for name, status in reads.statuses.items()},
        dict(recorder.folders),
        {name: value for reads in each for name, value in reads.variables.items()},
        frozenset(name.partition(".")[0] for reads in each for name in reads.imports if not _is_imported(name)),
        next((reads.unrepeatable for reads in each if reads.unrepeatable is not None), None),
    )


def digest_modules_early() -> None:
    """Digest the modules that are installed elsewhere, so that processes forked from this one need not.

    Modules that are lazy, or not of the usual kind, are left alone: to ask such a module for its file may run it.
    """
    contents = {name: vars(each) for name, each in list(sys.modules.items()) if type(each) is ModuleType}
    files = [each.get("__file__") for name, each in contents.items() if name.partition(".")[0] not in _VERSIONED]
    for file in files:
        if isinstance(file, str):
            _digest_version(file, _identify_version(file))


def _is_imported(name: str) -> bool:
    return name in sys.modules or name.partition(".")[0] in sys.modules


def _list_installed_modules() -> dict[str, ModuleType]:
    """List the modules that users' code may have imported; this package's own libraries have versions."""
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in _VERSIONED and not is_user_module(name) and not _is_of_python(module)
    }


def _is_of_python(module: ModuleType) -> bool:
    """Tell whether a module is in Python's own folder: some of those have names that depend on the machine."""
    return os.path.dirname(getattr(module, "__file__", None) or "") == os.path.dirname(os.__file__)


def _list_package_folders(modules: Iterable[ModuleType]) -> list[str]:
    return [folder for module in modules for folder in getattr(module, "__path__", ()) if isinstance(folder, str)]


def _list_files(modules: Mapping[str, ModuleType]) -> dict[str, str]:
    """List the files of modules by the names of the modules; a module need not have any."""
    files = {name: getattr(module, "__file__", None) for name, module in modules.items()}
    return {name: file for name, file in files.items() if isinstance(file, str)}


def _digest_installed_modules(files: Mapping[str, str], recorder: _Recorder) -> dict[str, str | None]:
    """Return the digests of the files of modules; ``UNKNOWN_CONTENT`` if a file is not what was imported."""
    digests: dict[str, str | None] = {}
    for name, file in files.items():
        version = _identify_version(file)
        was_changed = name in recorder.earlier_modules and (version is None or version.changed > _STARTED)
        digests[file] = UNKNOWN_CONTENT if was_changed else _digest_version(file, version)
    return digests


class _Version(NamedTuple):
    """What tells the contents of a file at one time from those at another, without reading them."""

    device: int
    number: int
    size: int
    changed: int
    """In nanoseconds, by the clock of the machine; nobody can set it, unlike the time of modification."""


def _identify_version(file: str) -> _Version | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return _Version(status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)


@cache
def _digest_version(file: str, version: _Version | None) -> str:
    return digest_file(file) or UNKNOWN_CONTENT


def _watch_environment(recorder: _Recorder) -> None:
    """Let the environment report which variables are read."""
    kind: Any = type(os.environ)
    get = kind.__getitem__

    def get_and_record(self: Any, key: Any) -> Any:
        try:
            value = get(self, key)
        except KeyError:
            recorder.record_variable(key, None)
            raise
        recorder.record_variable(key, os.fsdecode(value))
        return value

    def record_listing(method: Any) -> Any:
        def call_and_record(self: Any) -> Any:
            recorder.record_listing()
            return method(self)

        return call_and_record

    kind.__getitem__ = get_and_record
    for name in ("__iter__", "__len__", "__repr__"):
        setattr(kind, name, record_listing(getattr(kind, name)))


def _watch_statuses(recorder: _Recorder) -> None:
    """Let the functions that tell whether a file exists, or of what kind it is, report who asks."""
    for name in _STATUS_FUNCTIONS:
        function = getattr(os, name)
        watched = _record_asking(recorder, function)
        setattr(os, name, watched)
        for group in (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks):
            if function in group:
                group.add(watched)


def _record_asking(recorder: _Recorder, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def ask_and_record(*arguments: Any, **named: Any) -> Any:
        path = arguments[0] if arguments else named.get("path")
        recorder.record_status(path, is_relative=named.get("dir_fd") is not None)
        return function(*arguments, **named)

    return ask_and_record
