"""Detects which proofs are affected by files that have changed on disk.

Files are polled and compared by content: an editor may write a file in place or replace it by another one, and neither
its modification time nor its size need change.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import time_ns

from fdverify.cache.signed_records import compute_digest
from fdverify.proofs.proof_result import ProofResult

_UNSETTLED = 2_000_000_000
"""Nanoseconds after a change during which another change may leave the same modification time."""


@dataclass(frozen=True)
class _FileRecord:
    """A file's stat signature and digest.  If ``settled``, every later change of content changes the signature."""

    signature: tuple[int, ...]
    digest: str
    settled: bool


_PACKAGE, _FOLDER = _FOLDER_KINDS = ("a package", "a folder of modules")
"""Stand-ins for the digest of a folder."""


class FileDigester:
    """Reads the digests of files; a file whose stat signature has not changed is not read again."""

    def __init__(self) -> None:
        self._records: dict[Path, _FileRecord] = {}

    def digest_files(self, folders: Iterable[Path], files: Iterable[Path]) -> dict[Path, str]:
        """Return the digest of each existing file, and the kind of package for each folder that can be imported."""
        folders = set(folders)
        inside = {path for folder in folders for path in _list_python_files(folder)}
        digests = {path: self._digest_file(path) for path in inside | set(files)}
        packages = {path: kind for folder in folders for path, kind in _list_packages(folder)}
        return {**packages, **{path: value for path, value in digests.items() if value is not None}}

    def _digest_file(self, path: Path) -> str | None:
        try:
            status = os.stat(path)
            signature = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            record = self._records.get(path)
            if record is None or record.signature != signature or not record.settled:
                settled = time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _UNSETTLED
                record = self._records[path] = _FileRecord(signature, compute_digest(path.read_bytes()), settled)
        except OSError:  # the file is missing or not readable
            return None
        return record.digest


def _list_python_files(folder: Path) -> list[Path]:
    try:
        return [folder / entry.name for entry in os.scandir(folder) if entry.name.endswith(".py")]
    except OSError:
        return []


def _list_packages(folder: Path) -> list[tuple[Path, str]]:
    """List the subfolders that Python can import; one of them may shadow a module of the same name."""
    try:
        subfolders = [folder / entry.name for entry in os.scandir(folder) if entry.is_dir()]
    except OSError:
        return []
    modules = {path: {file.name for file in _list_python_files(path)} for path in subfolders}
    return [(path, _PACKAGE if "__init__.py" in names else _FOLDER) for path, names in modules.items() if names]


def is_redirected(result: ProofResult) -> bool:
    """Tell whether the proof's path now leads, through a changed link, to another file than the one that was run."""
    return bool(result.files) and result.path.resolve() not in result.files


def is_affected(result: ProofResult, before: Mapping[Path, str], now: Mapping[Path, str]) -> bool:
    """Tell whether changes on disk may change the result of a proof.

    A file that appeared or disappeared in a folder that the proof imports from may shadow or uncover a module.  If the
    proof cannot be loaded, its imports are unknown, so every change in these folders counts.
    """
    changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    came_or_went = {path for path in changed if path not in before or path not in now or before[path] in _FOLDER_KINDS}
    own = {result.path.resolve(), result.path.parent.resolve() / result.path.name, *result.files}
    folders = {path.parent for path in own}
    suspects: Collection[Path] = came_or_went if result.error is None and result.lost is None else changed
    return is_redirected(result) or not own.isdisjoint(changed) or any(path.parent in folders for path in suspects)
