"""Verdicts, what they rest on, and the exit codes they end a process with."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from fdverify.runs.run import Run


class Verdict(StrEnum):
    PROVED = "proved"
    BOUNDED = "bounded"
    VIOLATED = "violated"
    NOT_INDUCTIVE = "not-inductive"
    UNKNOWN = "unknown"
    VACUOUS = "vacuous"
    PARTIAL = "partial"

    @property
    def exit_code(self) -> int:
        return {
            Verdict.PROVED: 0,
            Verdict.BOUNDED: 0,
            Verdict.VIOLATED: 1,
            Verdict.NOT_INDUCTIVE: 1,
            Verdict.UNKNOWN: 3,
            Verdict.VACUOUS: 4,
            Verdict.PARTIAL: 0,
        }[self]


_MOST_SERIOUS_FIRST = (70, 2, 1, 4, 3, 0)


def worst(exit_codes: Collection[int]) -> int:
    """The exit code for several things that ended with these."""
    return next((code for code in _MOST_SERIOUS_FIRST if code in exit_codes), 0)


@dataclass(frozen=True)
class Obligation:
    """One thing that had to be shown, and what came of it."""

    name: str
    kind: str
    verdict: Verdict
    seconds: float
    detail: str = ""

    WRITTEN = ("name", "kind", "verdict", "seconds")


@dataclass(frozen=True)
class Result:
    """What an engine found.  ``detail`` is a sentence; ``run`` leads to the state that the verdict is about."""

    verdict: Verdict
    detail: str
    statistics: dict[str, int] = field(default_factory=dict)
    obligations: tuple[Obligation, ...] = ()
    run: Run | None = None
    notes: tuple[str, ...] = ()
    """What a reader should know besides."""


@dataclass(frozen=True)
class Progress:
    """How far an engine is: the last depth it has completed, and the states it has seen if it counts them."""

    depth: int
    states: int | None = None


Report: TypeAlias = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report to nobody."""
