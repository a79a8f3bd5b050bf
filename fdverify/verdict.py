"""Verdicts, the results of engines, and exit codes."""

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


def choose_exit_code(exit_codes: Collection[int]) -> int:
    """Choose the most serious of several exit codes."""
    return next((code for code in _MOST_SERIOUS_FIRST if code in exit_codes), 0)


@dataclass(frozen=True)
class Obligation:
    """A proof obligation and its verdict."""

    name: str
    kind: str
    verdict: Verdict
    seconds: float
    detail: str = ""

    WRITTEN = ("name", "kind", "verdict", "seconds")


@dataclass(frozen=True)
class Result:
    """The answer of an engine.  ``detail`` is a sentence; ``run`` leads to the state that the verdict is about."""

    verdict: Verdict
    detail: str
    statistics: dict[str, int] = field(default_factory=dict)
    obligations: tuple[Obligation, ...] = ()
    run: Run | None = None
    notes: tuple[str, ...] = ()
    """Further remarks for the reader."""


@dataclass(frozen=True)
class Progress:
    """The progress of an engine: the last completed depth, and the number of states seen if the engine counts them."""

    depth: int
    states: int | None = None


Report: TypeAlias = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """Discard a progress report."""
