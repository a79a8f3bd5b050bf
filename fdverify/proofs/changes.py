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


class Disk:
    """The Python files in some folders, and others, as they are now."""

    def __init__(self) -> None:
        self._seen: dict[Path, _Seen] = {}

    def look(self, folders: Iterable[Path], files: Iterable[Path]) -> dict[Path, str]:
        """The digest of each file that is there."""
        inside = {path for folder in set(folders) for path in _python_files(folder)}
        found = {path: self._digest(path) for path in inside | set(files)}
        return {path: each for path, each in found.items() if each is not None}

    def _digest(self, path: Path) -> str | None:
        try:
            status = os.stat(path)
            signature = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            known = self._seen.get(path)
            if known is None or known.signature != signature or not known.settled:
                settled = time_ns() - status.st_mtime_ns > _UNSETTLED
                known = self._seen[path] = _Seen(signature, digest(path.read_bytes()), settled)
        except OSError:  # it is not there, or not for us
            return None
        return known.digest


def _python_files(folder: Path) -> list[Path]:
    try:
        return [folder / entry.name for entry in os.scandir(folder) if entry.name.endswith(".py")]
    except OSError:
        return []


def is_concerned(result: ProofResult, before: Mapping[Path, str], now: Mapping[Path, str]) -> bool:
    """Whether a proof may come out otherwise.

    What is new or gone in a folder that it imports from may be another module under the same name.  Of a file that
    cannot be loaded it is not known what it imports.
    """
    changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    came_or_went = {path for path in changed if path not in before or path not in now}
    own = {result.path.resolve(), *result.files}
    folders = {path.parent for path in own}
    suspects: Collection[Path] = came_or_went if result.error is None else changed
    return not own.isdisjoint(changed) or any(path.parent in folders for path in suspects)
