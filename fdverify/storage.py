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
            checksum, content = self._file(key).read_text().splitlines()
        except (OSError, ValueError):
            return None
        return content if checksum == _checksum(key, content) else None

    def write(self, key: str, content: str) -> None:
        """Keep it; a folder that cannot be written is no reason to fail."""
        try:
            self._file(key).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file(key), f"{_checksum(key, content)}\n{content}\n")
        except OSError:
            return

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / key


def _checksum(key: str, content: str) -> str:
    return sha256(f"{key}\n{content}".encode()).hexdigest()


def write_whole(path: Path, text: str) -> None:
    """Replace a file; a device or a pipe, which cannot be replaced, is written to."""
    if path.exists() and not path.is_file():
        path.write_text(text)
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
