"""Obligations and what may come of them, as plain data: reports use them without loading a solver."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fdverify.runs.run import Run
from fdverify.smt.script import Script


class ObligationKind(StrEnum):
    INITIATION = "initiation"
    CONSECUTION = "consecution"
    GOAL = "goal"
    PREMISE = "premise"
    VACUITY = "vacuity"


VACUITY = (ASSUMPTIONS, PHASES, GOAL_PREMISE, NO_DEAD_END) = ("assumptions", "phases", "goal-premise", "no-dead-end")
"""The obligations of every proof that show that it is not vacuous."""


@dataclass(frozen=True)
class ObligationOutline:
    """An obligation without its script: its name, its kind, and the conjunct (or the goal) it is about."""

    name: str
    kind: ObligationKind
    about: str


@dataclass(frozen=True)
class InvariantObligation:
    """An obligation to be decided: its kind, the conjunct (or the goal) it is about, its rounds and its script."""

    name: str
    kind: ObligationKind
    about: str
    rounds: int
    script: Script


@dataclass(frozen=True)
class Reachability:
    """A run that violates a claim; or none, in all runs (``complete``) or within so many ``rounds``."""

    run: Run | None
    complete: bool
    rounds: int


@dataclass(frozen=True)
class CounterexampleToInduction:
    """A replayed counterexample to an obligation, and the outcome of the search for a run that violates its claim."""

    about: str
    step: Run
    reached: Reachability | None
    breaks_goal: bool


@dataclass(frozen=True)
class NoCounterexample:
    """There is no counterexample after all: with more ages instantiated, the obligation is proved."""


@dataclass(frozen=True)
class UnknownCounterexample:
    """Whether there is a counterexample is not known."""

    reason: str
