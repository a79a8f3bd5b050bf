"""The JSON document of ``fdverify cutoff``."""

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
    """A property and the numbers of processes that decide it for all N; there are none if a lemma is not proved."""

    name: str
    indexes: tuple[str, ...]
    suffices: tuple[int, ...]
    says: str


@dataclass(frozen=True, kw_only=True)
class CutoffDocument(Document):
    """The result of ``fdverify cutoff``."""

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
