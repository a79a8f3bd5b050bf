"""Questions that no solver could answer, kept as files for whoever wants to look into them."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from fdverify.files import safe_name, write_whole
from fdverify.smt.cache import folder
from fdverify.smt.cache_folder import UNKNOWN, tidy_once


def keep_undecided(source: Path, name: str, question: str, text: str) -> Path | None:
    """Keep the text of a question about what a file calls so; where, if it could be written."""
    # Another project may use the same name.
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
