"""Writing files whole: a reader sees all of a file or none of it, whoever is killed meanwhile."""

from __future__ import annotations

import os
import tempfile
from hashlib import sha256
from pathlib import Path


class Entries:
    """Lines of text by key, a file each in one folder; what was damaged since is not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> str | None:
        try:
            checksum, content = self._file(key).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            return None
        return content if checksum == _checksum(key, content) else None

    def write(self, key: str, content: str) -> None:
        """Keep it; a folder that cannot be written is no reason to fail."""
        aside = self._folder / _UNFINISHED
        try:
            self._file(key).parent.mkdir(parents=True, exist_ok=True)
            aside.mkdir(exist_ok=True)
            _sweep(aside)
            write_whole(self._file(key), f"{_checksum(key, content)}\n{content}\n", aside)
        except OSError:
            return

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / key


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _checksum(key: str, content: str) -> str:
    return sha256(f"{key}\n{content}".encode()).hexdigest()


_UNFINISHED = "unfinished"
"""Where entries are until they are whole, so that what a killed process leaves behind is found without a search."""


def _sweep(folder: Path) -> None:
    """Remove what processes have left that are gone.

    One on another machine or in another container may seem to be gone; its entry is then not kept, and nothing breaks.
    """
    for left in folder.iterdir():
        owner = left.name.partition(".")[0]
        if not (owner.isdigit() and _lives(int(owner))):
            left.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def write_whole(path: Path, text: str, aside: Path | None = None) -> None:
    """Replace a file; a device or a pipe, which cannot be replaced, is written to.

    Until it is whole it is beside the old one, hidden, or ``aside`` in a folder of the same disk.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    prefix = f".{path.name[:40]}." if aside is None else f"{os.getpid()}."
    handle, name = tempfile.mkstemp(dir=aside or path.parent, prefix=prefix)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
