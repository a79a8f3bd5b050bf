"""Temporal goals.  A claim in a goal is the name of a property of the model, or a function of the state."""

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
    """Return a claim of a goal in which names have been resolved to properties."""
    assert isinstance(claim, Property), "an argument is made for properties"
    return claim


@dataclass(frozen=True)
class Always:
    """The claim holds in every state of every run."""

    claim: Claimed


@dataclass(frozen=True)
class EventuallyAlways:
    """In every run the claim holds from some time on, and for good."""

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
        """The claim that holds then or later."""
        return self.conclusion.claim if isinstance(self.conclusion, Always) else self.conclusion


TemporalGoal: TypeAlias = Always | EventuallyAlways | LeadsTo


def looked_up(goal: EventuallyAlways | LeadsTo, look: Callable[[Claimed], Property]) -> EventuallyAlways | LeadsTo:
    """Return the goal with its claims resolved to properties."""
    if isinstance(goal, EventuallyAlways):
        return EventuallyAlways(look(goal.claim))
    reached = look(goal.reached)
    return LeadsTo(look(goal.premise), Always(reached) if goal.lasting else reached)


def check_goal(goal: object) -> None:
    """Refuse a value that is not a goal."""
    claims: tuple[object, ...]
    match goal:
        case Always(claim) | EventuallyAlways(claim):
            claims = (claim,)
        case LeadsTo(premise=premise):
            claims = (premise, goal.reached)
        case _:
            claims = (goal,)
    for candidate in claims:
        if not (isinstance(candidate, str) or inspect.isfunction(candidate)):
            raise UsageError(
                f"{shortened(candidate)} is not a goal",
                "name a property or give a function; or Always, EventuallyAlways of one, LeadsTo of two",
            )


def named(goal: EventuallyAlways | LeadsTo) -> str:
    """Return the name of a goal in which names have been resolved."""
    if isinstance(goal, EventuallyAlways):
        return f"eventually always {claimed(goal.claim).name}"
    return f"{claimed(goal.premise).name} leads to {'always ' if goal.lasting else ''}{claimed(goal.reached).name}"


def meant(goal: EventuallyAlways | LeadsTo) -> str:
    """Return the meaning of such a goal in words."""
    if isinstance(goal, EventuallyAlways):
        return f"in every run, from some time on and for good: {claimed(goal.claim).meaning}"
    good = " and for good" if goal.lasting else ""
    return f"whenever: {claimed(goal.premise).meaning} then or later{good}: {claimed(goal.reached).meaning}"
