"""What the cutoff says, for machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fdverify.cutoff.answer import ExploredClaim, SmallSystemBounds
from fdverify.cutoff.lemma_check import CarriedProof, LemmaResult
from fdverify.reports.documents import Document
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class PropertyCutoff:
    """A property whose shape fits; ``suffices`` are the numbers of processes that tell of all, if all lemmas hold."""

    name: str
    indexes: tuple[str, ...]
    suffices: tuple[int, ...]
    says: str


@dataclass(frozen=True, kw_only=True)
class CutoffDocument(Document):
    """What ``fdverify cutoff`` found."""

    command: Literal["cutoff"] = "cutoff"
    template: str
    options: Mapping[str, str | int]
    second_opinion: str | None
    verdict: Verdict
    detail: str
    exit_code: int
    seconds: float
    lemmas: tuple[LemmaResult, ...]
    properties: tuple[PropertyCutoff, ...]
    proofs: tuple[CarriedProof, ...]
    small: SmallSystemBounds | None
    explored: tuple[ExploredClaim, ...]
