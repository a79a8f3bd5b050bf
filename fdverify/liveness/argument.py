"""Arguments: how a liveness goal follows from premises about every state and every round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Any, TypeAlias

from fdverify.errors import SourceLocation, UsageError
from fdverify.logic import Number, is_number, is_truth, shorten_value
from fdverify.models.detector import Detector
from fdverify.models.system import Property, State, StepProperty, System

Premise: TypeAlias = Property | StepProperty


@dataclass(frozen=True)
class Bound:
    """A bound that the argument yields: on what, its formula, and a remark."""

    of: str
    formula: str
    remark: str = ""


@dataclass(frozen=True)
class FairRuns:
    """The subject of an argument from fairness: fair runs in which ``within`` holds from some time on.

    ``plain`` removes from the system the ghosts that were added for the argument.
    """

    within: Property
    plain: Callable[[System], System]


@dataclass(frozen=True)
class Argument:
    """A liveness goal, the reduction that proves it, and the premises that the reduction needs.

    Each of the ``witnesses`` must occur in some run, or the argument is vacuous.  Every argument also has the premise
    that every reachable state has a next round; every proof shows this anyway.
    """

    name: str
    meaning: str
    claims: tuple[Property, ...]
    """The properties that occur in the goal."""
    reduction: str
    premises: tuple[Premise, ...]
    witnesses: tuple[Property, ...]
    bounds: tuple[Bound, ...]
    sightings: tuple[Property, ...] = ()
    """Events that are searched for in runs, and noted if they are not seen."""
    fairness: tuple[Property, ...] = ()
    """Conditions that are assumed to hold infinitely often in a run."""
    fair_runs: FairRuns | None = None
    """The runs of which there must be at least one, if fairness is assumed."""


class TermSort(StrEnum):
    """The kind of value that a term has."""

    NUMBER = "a whole number"
    TRUTH = "a truth value"
    RANK = "a tuple of whole numbers"
    CASES = "a dict of truth values"


def require_sort(
    sort: TermSort, what: str, function: Callable[[State], Any], place: SourceLocation
) -> Callable[[State], Any]:
    """Wrap the function so that it refuses to return a value of another sort."""

    @wraps(function)
    def call_checked(state: State) -> Any:
        value = function(state)
        match sort:
            case TermSort.NUMBER:
                fits = is_number(value)
            case TermSort.TRUTH:
                fits = is_truth(value)
            case TermSort.RANK:
                fits = isinstance(value, tuple) and len(value) > 0 and all(is_number(part) for part in value)
            case TermSort.CASES:
                fits = isinstance(value, dict) and len(value) > 0 and all(map(is_truth, value.values()))
                fits = fits and all(isinstance(name, str) for name in value)
        if not fits:
            message = f"{what} returns {type(value).__name__} {shorten_value(value)}, not {sort}"
            raise UsageError(message, place=place)
        return value

    return call_checked


@dataclass(frozen=True)
class Term:
    """A term that the author of a proof has to give for a reduction."""

    sort: TermSort
    meaning: str


@dataclass(frozen=True)
class Terms:
    """The input of a reduction: the system, and the terms that the author of a proof gives, by name."""

    system: System
    by_name: Mapping[str, Callable[[State], Any]]
    place: SourceLocation
    """Where the proof is written."""

    @property
    def detector(self) -> Detector:
        assert self.system.detector is not None, "a reduction that needs a detector has checked that there is one"
        return self.system.detector

    def evaluate_bound(self, name: str, state: State, *also: str) -> Number:
        """Evaluate a bound, which may read only the parameters and these variables: other variables change."""
        readable = [*(parameter.name for parameter in self.system.parameters), *also]
        bound: Number = self.by_name[name](State({variable: state[variable] for variable in readable}))
        return bound

    def timeout(self, s: State) -> Number:
        return s[self.detector.timeout]

    def first_timeout(self, s: State) -> Number:
        return s[self.detector.first_timeout]

    def crash_clock(self, s: State) -> Number:
        return s[self.detector.crash_clock]


@dataclass(frozen=True)
class Reduction:
    """A way to prove liveness goals of one type, with terms that the author of a proof gives."""

    name: str
    goal: type
    terms: Mapping[str, Term]
    argue: Callable[[Terms, Any], Argument]
    prepare: Callable[[System], System]
    """Add the ghosts that the argument reads; refuse a system that the reduction does not apply to."""
