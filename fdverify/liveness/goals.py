"""Temporal goals.  What is claimed inside of one is a property of the model, by name, or a function of the state."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import Truth, shortened
from fdverify.models.system import Property

Claimed: TypeAlias = str | Callable[[Any], Truth] | Property


def claimed(claim: Claimed) -> Property:
    """The claim of a goal whose names have been looked up."""
    assert isinstance(claim, Property), "an argument is made for properties"
    return claim


@dataclass(frozen=True)
class Always:
    """It holds in every state of every run."""

    claim: Claimed


@dataclass(frozen=True)
class EventuallyAlways:
    """In every run it holds from some time on, and for good."""

    claim: Claimed


@dataclass(frozen=True)
class LeadsTo:
    """Whenever the premise holds, the conclusion holds then or later; if it is ``Always``, from then on for good."""

    premise: Claimed
    conclusion: Claimed | Always

    @property
    def lasting(self) -> bool:
        return isinstance(self.conclusion, Always)

    @property
    def reached(self) -> Claimed:
        """What holds then or later."""
        return self.conclusion.claim if isinstance(self.conclusion, Always) else self.conclusion


TemporalGoal: TypeAlias = Always | EventuallyAlways | LeadsTo


def looked_up(goal: EventuallyAlways | LeadsTo, look: Callable[[Claimed], Property]) -> EventuallyAlways | LeadsTo:
    """The goal with properties for what is named in it."""
    if isinstance(goal, EventuallyAlways):
        return EventuallyAlways(look(goal.claim))
    reached = look(goal.reached)
    return LeadsTo(look(goal.premise), Always(reached) if goal.lasting else reached)


def check_goal(goal: object) -> None:
    """Refuse what is no goal."""
    claims: tuple[object, ...]
    match goal:
        case Always(claim) | EventuallyAlways(claim):
            claims = (claim,)
        case LeadsTo(premise=premise):
            claims = (premise, goal.reached)
        case _:
            claims = (goal,)
    for each in claims:
        if not (isinstance(each, str) or inspect.isfunction(each)):
            raise UsageError(
                f"{shortened(each)} is no goal",
                "name a property or give a function; or Always, EventuallyAlways of one, LeadsTo of two",
            )


def named(goal: EventuallyAlways | LeadsTo) -> str:
    """The name of a goal of which the names have been looked up."""
    if isinstance(goal, EventuallyAlways):
        return f"eventually always {claimed(goal.claim).name}"
    return f"{claimed(goal.premise).name} leads to {'always ' if goal.lasting else ''}{claimed(goal.reached).name}"


def meant(goal: EventuallyAlways | LeadsTo) -> str:
    """What such a goal means, in words."""
    if isinstance(goal, EventuallyAlways):
        return f"in every run, from some time on and for good: {claimed(goal.claim).meaning}"
    good = " and for good" if goal.lasting else ""
    return f"whenever: {claimed(goal.premise).meaning} then or later{good}: {claimed(goal.reached).meaning}"
