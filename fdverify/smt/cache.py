"""What was proved before: an obligation is remembered by its step and its conclusion, and the hypotheses it needed.

It is taken from here when its step and conclusion are the same text, every assertion in a recorded unsat core is still
among its own, and its negated conclusion is one of them: a core without that is about contradictory hypotheses, which
prove nothing.  All that under the same solver and options, and signed by the same key.  Hypotheses outside of the core
may come, change and go.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from fdverify.smt.decide import OPTIONS, SOLVER, Decision
from fdverify.smt.script import Script
from fdverify.storage import Entries

_MOST_CORES = 8


def folder() -> Path:
    """Where this tool keeps what it may lose."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("fdverify"))


class Cache:
    """One file an obligation, replaced as a whole: what is read is never half of one, whoever writes or is killed."""

    def __init__(self, root: Path) -> None:
        self._entries = Entries(root / "proved")

    def proved(self, script: Script) -> bool:
        present = {assertion.fingerprint for assertion in (*script.hypotheses, script.negated)}
        return any(core <= present and script.negated.fingerprint in core for core in self._cores(_key(script)))

    def remember(self, script: Script, decision: Decision) -> None:
        """Note a proof, unless its hypotheses contradict each other: then it is found out anew each time."""
        assert decision.status == "unsat", "only what was proved is remembered"
        assert decision.core is not None, "and only with what it needs"
        if not decision.needs_negated:
            return
        key = _key(script)
        core = {script.hypotheses[place].fingerprint for place in decision.core} | {script.negated.fingerprint}
        cores = [core, *(known for known in self._cores(key) if not core <= known)][:_MOST_CORES]
        self._entries.write(key, json.dumps([sorted(each) for each in cores]))

    def _cores(self, key: str) -> list[set[str]]:
        content = self._entries.read(key)
        return [] if content is None else [set(core) for core in json.loads(content)]


def _key(script: Script) -> str:
    parts = [SOLVER, OPTIONS, *sorted(a.fingerprint for a in script.step), script.negated.fingerprint]
    return sha256("\n".join(parts).encode()).hexdigest()
