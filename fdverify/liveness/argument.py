"""How a liveness goal follows from what is true of every state and of every round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Any, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import Number, is_number, is_truth, shortened
from fdverify.models.detector import Detector
from fdverify.models.system import Property, State, StepProperty, System

Premise: TypeAlias = Property | StepProperty


@dataclass(frozen=True)
class Bound:
    """What the argument says in numbers: of what, the formula, and a remark."""

    of: str
    formula: str
    remark: str = ""


@dataclass(frozen=True)
class FairRuns:
    """What an argument from fairness is about: fair runs in which ``within`` holds from some time on.

    ``plain`` gives the system without the ghosts that were added to count for the argument.
    """

    within: Property
    plain: Callable[[System], System]


@dataclass(frozen=True)
class Argument:
    """A goal, the reduction that it is shown by, and what that needs.

    ``witnesses`` are what must happen in some run, or the argument is about nothing.  That time goes on in every
    reachable state is a premise of every argument; every proof shows it anyway.
    """

    name: str
    meaning: str
    claims: tuple[Property, ...]
    """What the goal itself is made of."""
    reduction: str
    premises: tuple[Premise, ...]
    witnesses: tuple[Property, ...]
    bounds: tuple[Bound, ...]
    sightings: tuple[Property, ...] = ()
    """What is looked for in runs, and told if it is not seen."""
    fairness: tuple[Property, ...] = ()
    """What is assumed to hold again and again in a run."""
    fair_runs: FairRuns | None = None
    """Of which there must be some, if fairness is assumed."""


class Sort(StrEnum):
    """What a term is."""

    NUMBER = "a whole number"
    TRUTH = "a truth value"
    RANK = "a tuple of whole numbers"
    CASES = "a dict of truth values"


def of_sort(sort: Sort, what: str, function: Callable[[State], Any]) -> Callable[[State], Any]:
    """The function, which returns a value of the sort or complains."""

    @wraps(function)
    def checked(state: State) -> Any:
        value = function(state)
        match sort:
            case Sort.NUMBER:
                fits = is_number(value)
            case Sort.TRUTH:
                fits = is_truth(value)
            case Sort.RANK:
                fits = isinstance(value, tuple) and len(value) > 0 and all(is_number(part) for part in value)
            case Sort.CASES:
                fits = isinstance(value, dict) and len(value) > 0 and all(map(is_truth, value.values()))
                fits = fits and all(isinstance(name, str) for name in value)
        if not fits:
            raise UsageError(f"{what} returns {type(value).__name__} {shortened(value)}, not {sort}")
        return value

    return checked


@dataclass(frozen=True)
class Term:
    sort: Sort
    meaning: str


@dataclass(frozen=True)
class Terms:
    """What a reduction argues with: the system, and what the author of a proof gives, by name."""

    system: System
    given: Mapping[str, Callable[[State], Any]]
    place: str
    """Where the proof is written."""

    @property
    def detector(self) -> Detector:
        assert self.system.detector is not None, "it was asked for where it is needed"
        return self.system.detector

    def bound(self, name: str, state: State, *also: str) -> Number:
        """A number that reads the parameters and these variables alone: what changes otherwise bounds nothing."""
        readable = [*(parameter.name for parameter in self.system.parameters), *also]
        bound: Number = self.given[name](State({each: state[each] for each in readable}))
        return bound

    def timeout(self, s: State) -> Number:
        return s[self.detector.timeout]

    def first_timeout(self, s: State) -> Number:
        return s[self.detector.first_timeout]

    def crash_clock(self, s: State) -> Number:
        return s[self.detector.crash_clock]


@dataclass(frozen=True)
class Reduction:
    """A way to argue for goals of a kind, with terms that an author gives."""

    name: str
    goal: type
    terms: Mapping[str, Term]
    argue: Callable[[Terms, Any], Argument]
    prepare: Callable[[System], System]
    """The system with the ghosts that the argument reads; one that it is not about is refused."""
