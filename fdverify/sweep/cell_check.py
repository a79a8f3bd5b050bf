"""The check of one cell of a sweep, with digests of the sources that its answer depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import fdverify
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.loading import collect_loaded_contents
from fdverify.verdict import Verdict, ignore_progress

PACKAGE = "fdverify"
"""The name of this package among the sources."""


@dataclass(frozen=True)
class CellAnswer:
    """The verdict on an instance, and the digests of the files that were run for it, by name.

    ``rounds`` is the length of a shortest run to a violation or a dead end, which was replayed.
    """

    verdict: Verdict
    detail: str
    rounds: int | None
    sources: Mapping[str, str]


def check_cell(job: CheckRequest) -> CellAnswer:
    result = job.run_engine(ignore_progress)
    # The sources are listed afterwards: a model may import a file beside it as late as in a phase.
    return CellAnswer(
        result.verdict, result.detail, None if result.run is None else len(result.run.rounds), digest_sources()
    )


def digest_sources() -> dict[str, str]:
    """Digest the sources of this process: this package, and the users' files as they were when loaded."""
    users = {str(path): sha256(content).hexdigest() for path, content in collect_loaded_contents().items()}
    return {PACKAGE: _digest_package(), **users}


@cache
def _digest_package() -> str:
    root, digest = Path(fdverify.__file__).parent, sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\n{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
