"""The record of what users' code reads while it runs, so that an outcome can be reused while nothing of it has changed.

Python reports to an audit hook which files are opened and which modules are imported.  An event counts for every
user's file on the stack, whoever acts on its behalf.  What has no such event cannot be noticed: the clock, random
numbers, whether a file exists, and what compiled extensions do by themselves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from fdverify.models.loading import LIBRARIES, is_user_file, is_user_module

_UNREPEATABLE = (
    "ctypes.dlopen",
    "fcntl.",
    "ftplib.",
    "http.",
    "mmap.",
    "os.chdir",
    "os.exec",
    "os.fork",
    "os.link",
    "os.listdir",
    "os.listxattr",
    "os.getxattr",
    "os.mkdir",
    "os.posix_spawn",
    "os.putenv",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.scandir",
    "os.spawn",
    "os.startfile",
    "os.symlink",
    "os.system",
    "os.truncate",
    "os.unsetenv",
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
_ACTING = ("<frozen importlib", str(Path(__file__).parents[1]) + os.sep)
"""The beginnings of the names of files whose code imports modules and loads users' files."""


@dataclass(frozen=True)
class Reads:
    """What users' code has read.  A file or a variable that did not exist is recorded as ``None``."""

    files: Mapping[str, str | None] = field(default_factory=dict)
    """The digests of the files' contents."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """The digests of what can be imported from the folders of users' files: a new module may replace another one."""
    variables: Mapping[str, str | None] = field(default_factory=dict)
    modules: Mapping[str, str | None] = field(default_factory=dict)
    """Where Python finds the modules that users' code imports; ``None`` if nowhere, or only beside users' files."""
    unrepeatable: str | None = None
    """The first event for which the code has to be run again every time."""

    def is_current(self) -> bool:
        """Return whether users' code would read the same again."""
        return (
            self.unrepeatable is None
            and all(digest_file(path) == digest for path, digest in self.files.items())
            and all(digest_folder(path) == digest for path, digest in self.folders.items())
            and all(os.environ.get(name) == value for name, value in self.variables.items())
            and all(_find_module(name, self.files) == origin for name, origin in self.modules.items())
        )

    def merge(self, other: Reads) -> Reads:
        """Merge what two processes have read; it is not repeatable if they have read something differently."""
        pairs: tuple[tuple[Mapping[str, str | None], Mapping[str, str | None]], ...] = (
            (self.files, other.files),
            (self.folders, other.folders),
            (self.variables, other.variables),
            (self.modules, other.modules),
        )
        changed = (name for mine, others in pairs for name in mine.keys() & others.keys() if mine[name] != others[name])
        return Reads(
            {**self.files, **other.files},
            {**self.folders, **other.folders},
            {**self.variables, **other.variables},
            {**self.modules, **other.modules},
            self.unrepeatable or other.unrepeatable or min(changed, default=None),
        )


def _find_module(name: str, own: Container[str]) -> str | None:
    """Return where Python finds a module, unless that is one of the users' own files."""
    try:
        spec = PathFinder.find_spec(name)
    except (ImportError, ValueError):
        return None
    origin = None if spec is None else spec.origin or "a folder"
    return None if origin in own else origin


def digest_file(path: str | Path) -> str | None:
    """Return the digest of a file, or ``None`` if it is no readable regular file."""
    try:
        return sha256(Path(path).read_bytes()).hexdigest() if Path(path).is_file() else None
    except OSError:
        return None


def digest_folder(folder: str) -> str:
    """Return a digest of the names of the modules and packages in a folder."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(".py") or _is_package_folder(entry))
    except OSError:
        names = []
    return sha256("\n".join(names).encode(errors="surrogateescape")).hexdigest()


def _is_package_folder(entry: os.DirEntry[str]) -> bool:
    return entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir()


@dataclass
class _FileReads:
    """What one user's file, and what it calls, has read."""

    files: dict[str, str | None] = field(default_factory=dict)
    variables: dict[str, str | None] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    unrepeatable: str | None = None


class _Recorder:
    """Records the events of this process by the users' files on the stack."""

    def __init__(self) -> None:
        self.by_file: dict[str, _FileReads] = {}
        self.known_modules = frozenset(sys.modules)
        self._is_busy = False
        self._concerns: dict[str, bool] = {}
        """Whether an event may concern users' code, by its name: a solver's interface raises many that do not."""

    def list_own_names(self) -> set[str]:
        """List the modules of Python and of this package, whose versions are part of what an outcome depends on."""
        return {name.partition(".")[0] for name in self.known_modules} | LIBRARIES | set(sys.stdlib_module_names)

    def handle_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        concerns = self._concerns.get(event)
        if concerns is None:
            concerns = self._concerns[event] = event in ("open", "import") or event.startswith(_UNREPEATABLE)
        if not concerns or self._is_busy:
            return
        self._is_busy = True  # recording opens files itself
        try:
            readers, is_direct = self._find_readers()
            if not readers:
                return
            if event == "open":
                self._record_open(readers, *arguments)
            elif event == "import":
                if is_direct:
                    for reads in readers:
                        reads.imports.add(arguments[0])
            elif is_direct:  # how Python and this package find a module is no concern of users' code
                _mark_unrepeatable(readers, event)
        finally:
            self._is_busy = False

    def record_variable(self, name: Any, value: str | None) -> None:
        if not self._is_busy:
            for reads in self._find_readers()[0]:
                reads.variables.setdefault(os.fsdecode(name), value)

    def record_listing(self) -> None:
        if not self._is_busy:
            _mark_unrepeatable(self._find_readers()[0], "reads all environment variables")

    def _find_readers(self) -> tuple[list[_FileReads], bool]:
        """Find the users' files on the stack; tell whether neither an import nor this package acts for the last one."""
        readers: dict[str, _FileReads] = {}
        is_direct = True
        frame = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if is_user_file(name):
                readers[name] = self.by_file.setdefault(name, _FileReads())
            elif not readers and name.startswith(_ACTING) and name != __file__:
                is_direct = False
            frame = frame.f_back  # type: ignore[assignment]
        return list(readers.values()), is_direct

    def _record_open(self, readers: list[_FileReads], path: Any, mode: str | None, flags: int) -> None:
        if isinstance(path, int):
            return  # the descriptor comes from an event of its own
        name = os.fsdecode(path)
        if flags & _WRITING:
            if os.path.basename(os.path.dirname(name)) != "__pycache__":
                _mark_unrepeatable(readers, f"writes {name}")
        elif not os.path.isabs(name):
            _mark_unrepeatable(readers, f"opens {name}, which depends on the working directory")
        elif not name.endswith(".pyc"):
            digest = digest_file(name)
            for reads in readers:
                reads.files.setdefault(name, digest)


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


def collect_reads(sources: Mapping[Path, str]) -> Reads:
    """Return what these users' files have read so far in this process, the files themselves included.

    Of modules that are installed elsewhere, all that were imported since recording began are included.
    """
    if not _recorders:
        return Reads(unrepeatable="nothing was recorded")
    recorder = _recorders[0]
    each = [recorder.by_file[str(path)] for path in sources if str(path) in recorder.by_file]
    files = {
        **{name: digest for reads in each for name, digest in reads.files.items()},
        **_digest_installed_modules(recorder),
        **{str(path): digest for path, digest in sources.items()},
    }
    # A module is reported as imported only once in a process, whichever file needs it.
    imports = {name.partition(".")[0] for reads in recorder.by_file.values() for name in reads.imports}
    return Reads(
        files,
        {folder: digest_folder(folder) for folder in {str(path.parent) for path in sources}},
        {name: value for reads in each for name, value in reads.variables.items()},
        {name: _find_module(name, files) for name in imports - recorder.list_own_names()},
        next((reads.unrepeatable for reads in each if reads.unrepeatable is not None), None),
    )


def _digest_installed_modules(recorder: _Recorder) -> dict[str, str | None]:
    """Return the digests of modules that users' code may have imported; this package's own libraries have versions."""
    own = recorder.list_own_names()
    others = [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in own and not is_user_module(name)
    ]
    files = {file for module in others if isinstance(file := getattr(module, "__file__", None), str)}
    return {file: digest_file(file) for file in files}


def _watch_environment(recorder: _Recorder) -> None:
    """Let the environment report which variables are read."""
    kind: Any = type(os.environ)
    get, iterate = kind.__getitem__, kind.__iter__

    def get_and_record(self: Any, key: Any) -> Any:
        try:
            value = get(self, key)
        except KeyError:
            recorder.record_variable(key, None)
            raise
        recorder.record_variable(key, os.fsdecode(value))
        return value

    def iterate_and_record(self: Any) -> Iterator[Any]:
        recorder.record_listing()
        iterator: Iterator[Any] = iterate(self)
        return iterator

    kind.__getitem__, kind.__iter__ = get_and_record, iterate_and_record
