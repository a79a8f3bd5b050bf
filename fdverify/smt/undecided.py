"""Undecided obligations, kept as SMT-LIB files for inspection."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from fdverify.files import safe_name, write_whole
from fdverify.smt.cache import folder
from fdverify.smt.cache_folder import UNKNOWN, tidy_once


def keep_undecided(source: Path, name: str, question: str, text: str) -> Path | None:
    """Write the text of an undecided question; return its path, or ``None`` if it cannot be written."""
    # Two projects may use the same name, so the path of the source is part of the file name.
    digest = sha256(os.fsencode(source.resolve())).hexdigest()[:8]
    root = folder()
    path = root / UNKNOWN / f"{safe_name(f'{name}-{digest}.{question}')}.smt2"
    tidy_once(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError:
        return None
    return path
