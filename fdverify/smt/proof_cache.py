"""The cache of proved obligations.  An entry holds unsat cores under a key made of the step and the conclusion.

An obligation counts as proved if its step and conclusion are the same text, every assertion of a recorded unsat core is
among its own assertions, and the core contains the negated conclusion.  A core without the negated conclusion would
come from contradictory hypotheses, which prove nothing.  The solver, its options and the signing key must be the same.
Hypotheses outside the core may be added, changed or removed.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from fdverify.cache.signed_records import SignedRecords
from fdverify.smt.decide import OPTIONS
from fdverify.smt.script import Decision, Script

_MOST_CORES = 8


class ProofCache:
    """Unsat cores of proved obligations, one file per key.  Writes are atomic: no reader sees a partial entry."""

    def __init__(self, root: Path) -> None:
        self._records = SignedRecords(root / "proved")

    def has_proof(self, script: Script) -> bool:
        present = {assertion.fingerprint for assertion in (*script.hypotheses, script.negated)}
        return any(
            core <= present and script.negated.fingerprint in core for core in self._read_cores(_compute_key(script))
        )

    def record_proof(self, script: Script, decision: Decision) -> None:
        """Record the unsat core of a proof, unless the proof comes from contradictory hypotheses."""
        assert decision.status == "unsat", "only proofs are recorded"
        assert decision.core is not None, "a proof is recorded with its unsat core"
        if not decision.needs_negated:
            return
        key = _compute_key(script)
        new_core = {script.hypotheses[index].fingerprint for index in decision.core} | {script.negated.fingerprint}
        cores = [new_core, *(core for core in self._read_cores(key) if not new_core <= core)][:_MOST_CORES]
        self._records.write(key, json.dumps([sorted(core) for core in cores]))

    def _read_cores(self, key: str) -> list[set[str]]:
        content = self._records.read(key)
        return [] if content is None else [set(core) for core in json.loads(content)]


def _compute_key(script: Script) -> str:
    parts = [OPTIONS, *sorted(assertion.fingerprint for assertion in script.step), script.negated.fingerprint]
    return sha256("\n".join(parts).encode()).hexdigest()
