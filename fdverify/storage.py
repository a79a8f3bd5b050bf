"""What is remembered from run to run: signed records, a file each, kept only while they are wanted."""

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

from fdverify.files import read_plain, write_whole
from fdverify.signing import is_signed, sign_record

RECORDS = ("proved", "map", "passed")
"""The kinds of signed records: a folder each below the cache folder."""
_LONGEST_ENTRY = 1 << 20
_NAME = re.compile(r"[0-9a-f]{64}")
_TOUCHED_SECONDS = 24 * 3600


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


class Entries:
    """Signed lines of text by key, a file each in one folder; what somebody else wrote or damaged is not there."""

    def __init__(self, folder: Path) -> None:
        """The name of the folder is the kind of the records in it, which is signed along."""
        assert folder.name in RECORDS, "else nobody would tidy it up"
        self._folder = folder
        self._kind = folder.name

    def read(self, key: str) -> str | None:
        path = self._file(key)
        try:
            signature, content = read_plain(path, _LONGEST_ENTRY).decode().splitlines()
        except (OSError, ValueError):
            return None
        if not is_signed(self._kind, _payload(key, content), signature):
            return None
        _touch(path)
        return content

    def write(self, key: str, content: str) -> None:
        """Keep it; a folder that cannot be written, or a key that is missing, is no reason to fail."""
        signature = sign_record(self._kind, _payload(key, content))
        aside = self._folder / _UNFINISHED
        if signature is None:
            return
        try:
            self._file(key).parent.mkdir(parents=True, exist_ok=True)
            aside.mkdir(exist_ok=True)
            _sweep(aside)
            write_whole(self._file(key), f"{signature}\n{content}\n", aside)
        except OSError:
            return

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / key


def _payload(key: str, content: str) -> bytes:
    return f"{key}\n{content}".encode()


def _touch(path: Path) -> None:
    """Note, to the day, that an entry was used: the time of its file says so."""
    with suppress(OSError):
        if time.time() - path.lstat().st_mtime > _TOUCHED_SECONDS:
            os.utime(path, follow_symlinks=False)


_UNFINISHED = "unfinished"
"""Where entries are until they are whole, so that what a killed process leaves behind is found without a search."""


def _sweep(folder: Path) -> None:
    """Remove what processes have left that are gone.

    One on another machine or in another container may seem to be gone; its entry is then not kept, and nothing breaks.
    """
    if folder.is_symlink():
        raise OSError(errno.ENOTDIR, "somebody has put a link to another folder there")
    for left in folder.iterdir():
        owner = left.name.partition(".")[0]
        if not (owner.isdigit() and _lives(int(owner))):
            with suppress(OSError):
                left.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is somebody else's
        return True
    return True


@dataclass(frozen=True)
class Limits:
    """How much is kept in a folder."""

    files: int
    size: int
    """Of all files together, in bytes."""
    seconds: float
    """Since a file was last written or used."""


@dataclass(frozen=True)
class Kept:
    """A file in a folder that is tidied up."""

    path: str
    size: int
    used: float


def kept_entries(folder: Path) -> list[Kept]:
    """The entries in a folder of signed records, whoever wrote them."""
    names = [each for each in _listed(folder) if re.fullmatch("[0-9a-f]{2}", each.name)]
    folders = [each.path for each in names if each.is_dir(follow_symlinks=False)]
    return [kept for each in folders for kept in kept_files(Path(each), _NAME)]


def kept_files(folder: Path, name: re.Pattern[str]) -> list[Kept]:
    """The plain files of such names in a folder, no links followed."""
    found = []
    for each in _listed(folder):
        if name.fullmatch(each.name):
            try:
                about = each.stat(follow_symlinks=False)
            except OSError:  # another process has just removed it
                continue
            if stat.S_ISREG(about.st_mode):
                found.append(Kept(each.path, about.st_size, about.st_mtime))
    return found


def _listed(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        if not folder.is_symlink():
            with os.scandir(folder) as entries:
                yield from entries
    except OSError:
        return


def remove_excess(kept: list[Kept], limits: Limits) -> None:
    """Remove what was not used for long, and what was longest not used where there is too much."""
    oldest = time.time() - limits.seconds
    number = size = 0
    for each in sorted(kept, key=lambda each: -each.used):
        number, size = number + 1, size + each.size
        if each.used < oldest or number > limits.files or size > limits.size:
            with suppress(OSError):
                os.unlink(each.path)
