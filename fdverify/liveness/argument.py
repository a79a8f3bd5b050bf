"""How a liveness goal follows from what is true of every state and of every round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fdverify.logic import Number
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


@dataclass(frozen=True)
class Terms:
    """What the author of a proof gives a reduction to argue with."""

    system: System
    detector: Detector
    bounds: Mapping[str, Callable[[State], Number]]

    def bound(self, name: str, state: State, *also: str) -> Number:
        """A bound, which reads the parameters and these variables alone: what changes otherwise bounds nothing."""
        readable = [*(parameter.name for parameter in self.system.parameters), *also]
        return self.bounds[name](State({each: state[each] for each in readable}))

    def timeout(self, s: State) -> Number:
        return s[self.detector.timeout]

    def first_timeout(self, s: State) -> Number:
        return s[self.detector.first_timeout]

    def crash_clock(self, s: State) -> Number:
        return s[self.detector.crash_clock]


@dataclass(frozen=True)
class Reduction:
    """A way to argue for goals of a kind; ``bounds`` are the numbers that an author gives, and what each is."""

    name: str
    goal: type
    bounds: Mapping[str, str]
    argue: Callable[[Terms, Any], Argument]
