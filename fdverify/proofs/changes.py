"""What has changed on disk since proofs were checked, and which of them it concerns.

Files are looked at again and again, by what they say: an editor may write a file in place or put another one in its
stead, and neither its time nor its size need change.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import time_ns

from fdverify.proofs.result import ProofResult
from fdverify.storage import digest

_UNSETTLED = 2_000_000_000
"""Nanoseconds after a change within which another one may leave the same time on the file."""


@dataclass(frozen=True)
class _Seen:
    """A file's size, times and so on, what it said, and whether it must have changed if it says something else now."""

    signature: tuple[int, ...]
    digest: str
    settled: bool


_PACKAGE, _FOLDER = _KINDS = ("a package", "a folder of modules")
"""What is said of a folder, in which no digest is."""


class Disk:
    """The Python files in some folders, and others, as they are now."""

    def __init__(self) -> None:
        self._seen: dict[Path, _Seen] = {}

    def look(self, folders: Iterable[Path], files: Iterable[Path]) -> dict[Path, str]:
        """The digest of each file that is there; a folder that can be imported has what kind of package it is."""
        folders = set(folders)
        inside = {path for folder in folders for path in _python_files(folder)}
        found = {path: self._digest(path) for path in inside | set(files)}
        packages = {path: kind for folder in folders for path, kind in _packages(folder)}
        return {**packages, **{path: each for path, each in found.items() if each is not None}}

    def _digest(self, path: Path) -> str | None:
        try:
            status = os.stat(path)
            signature = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            known = self._seen.get(path)
            if known is None or known.signature != signature or not known.settled:
                settled = time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _UNSETTLED
                known = self._seen[path] = _Seen(signature, digest(path.read_bytes()), settled)
        except OSError:  # it is not there, or not for us
            return None
        return known.digest


def _python_files(folder: Path) -> list[Path]:
    try:
        return [folder / entry.name for entry in os.scandir(folder) if entry.name.endswith(".py")]
    except OSError:
        return []


def _packages(folder: Path) -> list[tuple[Path, str]]:
    """The folders in it that Python may import, one of which may stand in for a module of its name."""
    try:
        inside = [folder / entry.name for entry in os.scandir(folder) if entry.is_dir()]
    except OSError:
        return []
    names = {path: {file.name for file in _python_files(path)} for path in inside}
    return [(path, _PACKAGE if "__init__.py" in some else _FOLDER) for path, some in names.items() if some]


def is_elsewhere(result: ProofResult) -> bool:
    """Whether its name, or that of a folder on the way, has become a link to another file than the one that was run."""
    return bool(result.files) and result.path.resolve() not in result.files


def is_concerned(result: ProofResult, before: Mapping[Path, str], now: Mapping[Path, str]) -> bool:
    """Whether a proof may come out otherwise.

    What is new or gone in a folder that it imports from may be another module under the same name.  Of a file that
    cannot be loaded it is not known what it imports.
    """
    changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    came_or_went = {path for path in changed if path not in before or path not in now or before[path] in _KINDS}
    own = {result.path.resolve(), result.path.parent.resolve() / result.path.name, *result.files}
    folders = {path.parent for path in own}
    suspects: Collection[Path] = came_or_went if result.error is None else changed
    return is_elsewhere(result) or not own.isdisjoint(changed) or any(path.parent in folders for path in suspects)
