"""What was found out before: an answer is remembered with all that was run for it, and used while that is the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from fdverify import __version__
from fdverify.discovery.map.instance import Answer
from fdverify.model_check.check_request import CheckRequest
from fdverify.storage import Entries
from fdverify.verdict import Verdict

_DEFINITE = (Verdict.PROVED, Verdict.VIOLATED, Verdict.VACUOUS)
_LIBRARIES = ("numpy", "z3-solver")


class Store:
    """Answers by instance.  ``sources`` are what this process runs.

    It is used by the process that was asked for a map, never by a worker: that process alone has the key that signs.
    """

    def __init__(self, root: Path, sources: Mapping[str, str]) -> None:
        self._entries = Entries(root / "map")
        self._sources = sources
        self._on_disk: dict[str, str | None] = {}
        self._libraries = [f"{name} {version(name)}" for name in _LIBRARIES]

    def find(self, job: CheckRequest) -> Answer | None:
        content = self._entries.read(self._key(job))
        if content is None:
            return None
        verdict, detail, rounds, sources = json.loads(content)
        same = all(self._current(name) == digest for name, digest in sources.items())
        # A file that is loaded now but was not then may stand in for another one.
        return (
            Answer(Verdict(verdict), detail, rounds, sources)
            if same and self._sources.keys() <= sources.keys()
            else None
        )

    def keep(self, job: CheckRequest, answer: Answer) -> None:
        """Remember what cannot turn out otherwise."""
        if answer.verdict in _DEFINITE:
            content = [answer.verdict, answer.detail, answer.rounds, dict(answer.sources)]
            self._entries.write(self._key(job), json.dumps(content))

    def _key(self, job: CheckRequest) -> str:
        about = [job.command, job.model, job.claim, dict(job.parameters), dict(job.options), dict(job.settings)]
        text = json.dumps([__version__, self._libraries, about], sort_keys=True)
        return sha256(text.encode()).hexdigest()

    def _current(self, name: str) -> str | None:
        """The digest of a source as it is run now, or, if it is imported only later, as it is on disk."""
        if name in self._sources:
            return self._sources[name]
        if name not in self._on_disk:
            path = Path(name)
            self._on_disk[name] = sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        return self._on_disk[name]
