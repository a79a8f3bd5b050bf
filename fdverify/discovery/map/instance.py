"""One instance of a map: how it is checked, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import fdverify
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.user_files import loaded_contents
from fdverify.verdict import Verdict, silent

PACKAGE = "fdverify"
"""What stands for the files of this package among sources."""


@dataclass(frozen=True)
class Answer:
    """What exploring an instance has shown, and what was run for it: digests of files, by name.

    A violation, or a dead end, was reached by a shortest run of so many ``rounds``, which was replayed.
    """

    verdict: Verdict
    detail: str
    rounds: int | None
    sources: Mapping[str, str]


def answer(job: CheckRequest) -> Answer:
    result = job.decide(silent)
    # Asked for afterwards: a model may import what is beside it as late as in a phase.
    return Answer(result.verdict, result.detail, None if result.run is None else len(result.run.rounds), sources())


def sources() -> dict[str, str]:
    """What this process runs: this package, and the users' files it has loaded, as they were then."""
    users = {str(path): sha256(content).hexdigest() for path, content in loaded_contents().items()}
    return {PACKAGE: _package_digest(), **users}


@cache
def _package_digest() -> str:
    root, digest = Path(fdverify.__file__).parent, sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\n{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
