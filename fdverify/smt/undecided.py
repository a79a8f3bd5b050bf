"""Questions that no solver could answer, kept as files for whoever wants to look into them."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from fdverify.smt.cache import folder
from fdverify.storage import write_whole


def keep_undecided(source: Path, name: str, question: str, text: str) -> Path | None:
    """Keep the text of a question about what a file calls so; where, if it could be written."""
    # Another project may use the same name.
    digest = sha256(os.fsencode(source.resolve())).hexdigest()[:8]
    path = folder() / "unknown" / f"{name}-{digest}.{question}.smt2"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError:
        return None
    return path
