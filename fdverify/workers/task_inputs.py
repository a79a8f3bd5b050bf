"""What users' code has run and read for a task on another machine, compared with what is on this one."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path

from fdverify.errors import shorten_path
from fdverify.models.loading import collect_all_contents
from fdverify.models.read_recorder import collect_reads, digest_file

_LIBRARY_FOLDERS = {"site-packages", "dist-packages"}


@dataclass(frozen=True)
class TaskInputs:
    """The digests of users' files and of the files that they read, the variables that they read, and missing modules.

    A file or a variable that did not exist is recorded as ``None``.
    """

    files: Mapping[str, str | None] = field(default_factory=dict)
    variables: Mapping[str, str | None] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()

    def find_difference(self) -> str | None:
        """Say what is different on this machine; ``None`` if users' code would run and read the same here."""
        files = [path for path, digest in self.files.items() if digest_file(path) != digest]
        variables = [name for name, value in self.variables.items() if os.environ.get(name) != value]
        modules = [name for name in sorted(self.missing) if PathFinder.find_spec(name) is not None]
        differences = (
            *(f"{shorten_path(path)} is not the file that is here" for path in files),
            *(f"the variable {name} has not the value that it has here" for name in variables),
            *(f"the module {name}, which is here, is missing" for name in modules),
        )
        return next(iter(differences), None)


def collect_task_inputs() -> TaskInputs:
    """Collect what users' code has run and read in this process; installed libraries are left out."""
    sources = {path: sha256(content).hexdigest() for path, content in collect_all_contents().items()}
    if not sources:
        return TaskInputs()
    reads = collect_reads(sources)
    users = {name: digest for name, digest in reads.files.items() if Path(name) in sources or not _is_installed(name)}
    return TaskInputs(users, reads.variables, reads.missing)


def _is_installed(name: str) -> bool:
    """Tell whether a file belongs to Python or to an installed library, which may be elsewhere on another machine."""
    path = Path(name)
    return path.is_relative_to(sysconfig.get_path("stdlib")) or not _LIBRARY_FOLDERS.isdisjoint(path.parts)
