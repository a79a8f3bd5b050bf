"""The cache folder as a whole: listing its files, removing what exceeds the limits, and clearing it."""

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
    """List the stored files of each kind."""
    records = {kind: kept_entries(root / kind) for kind in RECORDS}
    return {**records, UNKNOWN: kept_files(root / UNKNOWN, _QUESTION)}


def tidy_once(root: Path) -> None:
    """Remove files that are too old or too many, at most once per process."""
    if root not in _tidied:
        _tidied.add(root)
        for kind, stored in contents(root).items():
            remove_excess(stored, LIMITS[kind])


def clear(root: Path) -> None:
    """Remove everything that this tool stores in the folder, and nothing else."""
    for kind in LIMITS:
        path = root / kind
        with suppress(OSError):
            if path.is_symlink():
                path.unlink()
            else:
                shutil.rmtree(path, ignore_errors=True)
