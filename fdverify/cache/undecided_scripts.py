"""Undecided obligations, kept as SMT-LIB files for inspection."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from fdverify.cache.cache_folder import UNKNOWN, get_cache_folder, tidy_folder_once
from fdverify.workers.atomic_files import make_file_name, write_atomically


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
