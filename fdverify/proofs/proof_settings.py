"""How proofs are to be checked, as the command line or a script says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fdverify.models.model import OptionValue
from fdverify.workers.backends import ClusterAccess, count_cores


@dataclass(frozen=True)
class ProofSettings:
    """How to check proofs, as the command line says."""

    parameters: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    k: int = 1
    only: tuple[str, ...] = ()
    time_limit: float | None = None
    memory_limit: int | None = None
    jobs: int = field(default_factory=count_cores)
    smtlib: Path | None = None
    second_opinion: str | None = None
    stability: int = 0
    seed: int = 0
    cache: bool = True
    knows_outcomes: bool = True
    """Whether whole outcomes may be reused: not where the caller's process may have changed what a proof imports."""
    cluster: ClusterAccess | None = None

    @property
    def reuses_results(self) -> bool:
        """Whether earlier results may be reused."""
        return self.cache and self.second_opinion is None and self.stability == 0 and self.seed == 0
