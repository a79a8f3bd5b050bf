"""A store of earlier answers: an answer is kept with digests of its sources, and is valid while they are unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from fdverify import __version__
from fdverify.cache.signed_records import SignedRecords
from fdverify.model_check.check_request import CheckRequest
from fdverify.sweep.cell_check import CellAnswer
from fdverify.verdict import Verdict

_DEFINITE = (Verdict.PROVED, Verdict.VIOLATED, Verdict.VACUOUS)
_LIBRARIES = ("numpy", "z3-solver")


class AnswerStore:
    """Answers by instance; ``sources`` are the digests of what this process runs.

    Only the main process uses the store, never a worker, since only the main process has the signing key.
    """

    def __init__(self, root: Path, sources: Mapping[str, str]) -> None:
        self._entries = SignedRecords(root / "map")
        self._sources = sources
        self._on_disk: dict[str, str | None] = {}
        self._libraries = [f"{name} {version(name)}" for name in _LIBRARIES]

    def find(self, request: CheckRequest) -> CellAnswer | None:
        content = self._entries.read(self._compute_key(request))
        if content is None:
            return None
        verdict, detail, rounds, sources = json.loads(content)
        same = all(self._find_current_digest(name) == digest for name, digest in sources.items())
        # A file that is loaded now, but was not loaded then, may replace another one.
        return (
            CellAnswer(Verdict(verdict), detail, rounds, sources)
            if same and self._sources.keys() <= sources.keys()
            else None
        )

    def keep(self, request: CheckRequest, answer: CellAnswer) -> None:
        """Store an answer if its verdict is definite."""
        if answer.verdict in _DEFINITE:
            content = [answer.verdict, answer.detail, answer.rounds, dict(answer.sources)]
            self._entries.write(self._compute_key(request), json.dumps(content))

    def _compute_key(self, request: CheckRequest) -> str:
        about = [
            request.command,
            request.model,
            request.claim,
            dict(request.parameters),
            dict(request.options),
            dict(request.settings),
        ]
        text = json.dumps([__version__, self._libraries, about], sort_keys=True)
        return sha256(text.encode()).hexdigest()

    def _find_current_digest(self, name: str) -> str | None:
        """Return the digest of a source as it is loaded now, or as it is on disk if it may be imported later."""
        if name in self._sources:
            return self._sources[name]
        if name not in self._on_disk:
            path = Path(name)
            self._on_disk[name] = sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        return self._on_disk[name]
