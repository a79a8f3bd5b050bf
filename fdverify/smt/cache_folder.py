"""The cache folder as a whole: what is in it, how much of that is kept, and how it is emptied."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from fdverify.storage import RECORDS, Kept, Limits, kept_entries, kept_files, remove_excess

UNKNOWN = "unknown"
_QUESTION = re.compile(r".*\.smt2", flags=re.DOTALL)
_MEGABYTE = 1 << 20
_DAY = 24 * 3600.0
LIMITS = {
    "proved": Limits(files=10_000, size=64 * _MEGABYTE, seconds=90 * _DAY),
    "map": Limits(files=10_000, size=64 * _MEGABYTE, seconds=90 * _DAY),
    "passed": Limits(files=10_000, size=64 * _MEGABYTE, seconds=90 * _DAY),
    UNKNOWN: Limits(files=200, size=64 * _MEGABYTE, seconds=30 * _DAY),
}
_tidied: set[Path] = set()


def contents(root: Path) -> dict[str, list[Kept]]:
    """The files of each kind that are kept."""
    records = {kind: kept_entries(root / kind) for kind in RECORDS}
    return {**records, UNKNOWN: kept_files(root / UNKNOWN, _QUESTION)}


def tidy_once(root: Path) -> None:
    """Remove what is too old or too much, once in the life of a process."""
    if root not in _tidied:
        _tidied.add(root)
        for kind, kept in contents(root).items():
            remove_excess(kept, LIMITS[kind])


def clear(root: Path) -> None:
    """Remove all that is kept, and nothing else that may be in the folder."""
    for kind in LIMITS:
        path = root / kind
        with suppress(OSError):
            if path.is_symlink():
                path.unlink()
            else:
                shutil.rmtree(path, ignore_errors=True)
