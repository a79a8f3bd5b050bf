"""What the cutoff says, for machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fdverify.cutoff.answer import Explored, Small
from fdverify.cutoff.check import Carried, Checked
from fdverify.reports.documents import Document
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class CutoffProperty:
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
    lemmas: tuple[Checked, ...]
    properties: tuple[CutoffProperty, ...]
    proofs: tuple[Carried, ...]
    small: Small | None
    explored: tuple[Explored, ...]
