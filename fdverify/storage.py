"""Writing files whole: a reader sees all of a file or none of it, whoever is killed meanwhile."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


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
