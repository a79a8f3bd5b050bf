"""The cache folder as a whole: limits on its files, clearing it, and the undecided scripts kept in it."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from fdverify.cache.signed_records import (
    RECORD_KINDS,
    StorageLimits,
    StoredFile,
    list_files,
    list_records,
    remove_excess_files,
)
from fdverify.workers.atomic_files import make_file_name, write_atomically

UNKNOWN = "unknown"
_SCRIPT_NAME = re.compile(r".*\.smt2", flags=re.DOTALL)
_MEGABYTE = 1 << 20
_DAY = 24 * 3600.0
LIMITS = {
    "proved": StorageLimits(files=10_000, size=64 * _MEGABYTE, seconds=90 * _DAY),
    "checked": StorageLimits(files=10_000, size=64 * _MEGABYTE, seconds=90 * _DAY),
    "map": StorageLimits(files=10_000, size=64 * _MEGABYTE, seconds=90 * _DAY),
    "passed": StorageLimits(files=10_000, size=64 * _MEGABYTE, seconds=90 * _DAY),
    UNKNOWN: StorageLimits(files=200, size=64 * _MEGABYTE, seconds=30 * _DAY),
}
_tidied: set[Path] = set()


def get_cache_folder() -> Path:
    """Return the user's cache folder; nothing in it is indispensable."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("fdverify"))


def list_contents(root: Path) -> dict[str, list[StoredFile]]:
    """List the stored files of each kind."""
    records = {kind: list_records(root / kind) for kind in RECORD_KINDS}
    return {**records, UNKNOWN: list_files(root / UNKNOWN, _SCRIPT_NAME)}


def tidy_folder_once(root: Path) -> None:
    """Remove files that are too old or too many, at most once per process."""
    if root not in _tidied:
        _tidied.add(root)
        for kind, stored in list_contents(root).items():
            remove_excess_files(stored, LIMITS[kind])


def clear_folder(root: Path) -> None:
    """Remove everything that this tool stores in the folder, and nothing else."""
    for kind in LIMITS:
        path = root / kind
        with suppress(OSError):
            if path.is_symlink():
                path.unlink()
            else:
                shutil.rmtree(path, ignore_errors=True)


def keep_undecided_script(source: Path, name: str, question: str, text: str) -> Path | None:
    """Write the text of an undecided question; return its path, or ``None`` if it cannot be written."""
    # Two projects may use the same name, so the path of the source is part of the file name.
    digest = sha256(os.fsencode(source.resolve())).hexdigest()[:8]
    root = get_cache_folder()
    path = root / UNKNOWN / f"{make_file_name(f'{name}-{digest}.{question}')}.smt2"
    tidy_folder_once(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    except OSError:
        return None
    return path
