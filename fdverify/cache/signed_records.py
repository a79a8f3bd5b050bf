"""Signed records that persist between runs, one file each, within limits of number, size and age."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fdverify.cache.signing import is_signed, sign_record
from fdverify.workers.atomic_files import read_regular_file, write_atomically

RECORD_KINDS = ("proved", "checked", "map", "passed")
"""The kinds of signed records; each has a folder in the cache folder."""
_LONGEST_ENTRY = 1 << 20
_NAME = re.compile(r"[0-9a-f]{64}")
_TOUCHED_SECONDS = 24 * 3600


def compute_digest(content: bytes) -> str:
    return sha256(content).hexdigest()


class SignedRecords:
    """Signed lines of text by key, one file each.  A record with a wrong signature counts as missing."""

    def __init__(self, folder: Path) -> None:
        """Use a folder whose name is the kind of its records, which the signature covers."""
        assert folder.name in RECORD_KINDS, "only these folders are tidied"
        self._folder = folder
        self._kind = folder.name

    def read(self, key: str) -> str | None:
        path = self._get_path(key)
        try:
            signature, content = read_regular_file(path, _LONGEST_ENTRY).decode().splitlines()
        except (OSError, ValueError):
            return None
        if not is_signed(self._kind, _build_payload(key, content), signature):
            return None
        _update_time(path)
        return content

    def write(self, key: str, content: str) -> None:
        """Write a record; if the folder is not writable or there is no key, do nothing."""
        signature = sign_record(self._kind, _build_payload(key, content))
        staging = self._folder / _STAGING_FOLDER
        if signature is None:
            return
        try:
            self._get_path(key).parent.mkdir(parents=True, exist_ok=True)
            staging.mkdir(exist_ok=True)
            _remove_leftovers(staging)
            write_atomically(self._get_path(key), f"{signature}\n{content}\n", staging)
        except OSError:
            return

    def _get_path(self, key: str) -> Path:
        return self._folder / key[:2] / key


def _build_payload(key: str, content: str) -> bytes:
    return f"{key}\n{content}".encode()


def _update_time(path: Path) -> None:
    """Update the modification time of a record that is used, at most once a day."""
    with suppress(OSError):
        if time.time() - path.lstat().st_mtime > _TOUCHED_SECONDS:
            os.utime(path, follow_symlinks=False)


_STAGING_FOLDER = "unfinished"
"""The staging folder for writes, where the files that a killed process leaves behind are easy to find."""


def _remove_leftovers(folder: Path) -> None:
    """Remove the files of processes that have ended.

    A process on another machine or in another container may seem to have ended; then its record is lost, which is
    harmless.
    """
    if folder.is_symlink():
        raise OSError(errno.ENOTDIR, "a symbolic link is in the place of the staging folder")
    for file in folder.iterdir():
        owner = file.name.partition(".")[0]
        if not (owner.isdigit() and _is_alive(int(owner))):
            with suppress(OSError):
                file.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        return True
    return True


@dataclass(frozen=True)
class StorageLimits:
    """Limits on the files in a folder."""

    files: int
    size: int
    """The total size in bytes."""
    seconds: float
    """The time since a file was last written or used."""


@dataclass(frozen=True)
class StoredFile:
    """A file in the cache folder, with its size and the time of its last use."""

    path: str
    size: int
    used: float


def list_records(folder: Path) -> list[StoredFile]:
    """List the records in a folder, without checking their signatures."""
    entries = [entry for entry in _scan_folder(folder) if re.fullmatch("[0-9a-f]{2}", entry.name)]
    subfolders = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return [record for subfolder in subfolders for record in list_files(subfolder, _NAME)]


def list_files(folder: Path, name: re.Pattern[str]) -> list[StoredFile]:
    """List the regular files in a folder whose names match; links are not followed."""
    files = []
    for entry in _scan_folder(folder):
        if name.fullmatch(entry.name):
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # another process has just removed it
                continue
            if stat.S_ISREG(status.st_mode):
                files.append(StoredFile(entry.path, status.st_size, status.st_mtime))
    return files


def _scan_folder(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        if not folder.is_symlink():
            with os.scandir(folder) as entries:
                yield from entries
    except OSError:
        return


def remove_excess_files(kept: list[StoredFile], limits: StorageLimits) -> None:
    """Remove the files that are too old, and the least recently used ones beyond the limits of number and size."""
    oldest = time.time() - limits.seconds
    number = size = 0
    for file in sorted(kept, key=lambda file: -file.used):
        number, size = number + 1, size + file.size
        if file.used < oldest or number > limits.files or size > limits.size:
            with suppress(OSError):
                os.unlink(file.path)
