"""Conjuncts that would make a proof of what is none yet, as data: whoever finds them is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SuggestedConjunct:
    """A conjunct to be added: its name, what it returns, and the text to be pasted into the file."""

    name: str
    formula: str
    source: str


@dataclass(frozen=True)
class Suggestion:
    """Conjuncts to be added, what they need imported, and the obligations that are not proved even so."""

    conjuncts: tuple[SuggestedConjunct, ...]
    imports: tuple[str, ...]
    unproved: tuple[str, ...]

    WRITTEN = ("proves", "conjuncts", "imports", "unproved")

    @property
    def proves(self) -> bool:
        return not self.unproved


@dataclass(frozen=True)
class ProofSuggestions:
    """The suggestions for a proof, those that prove first; a remark says why there are none, or none such."""

    path: Path
    suggestions: tuple[Suggestion, ...]
    remark: str
