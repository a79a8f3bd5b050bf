"""Temporal goals.  A claim in a goal is the name of a property of the model, or a function of the state."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import Truth, shorten_value
from fdverify.models.system import Property

GoalClaim: TypeAlias = str | Callable[[Any], Truth] | Property


def require_property(claim: GoalClaim) -> Property:
    """Return a claim of a goal in which names have been resolved to properties."""
    assert isinstance(claim, Property), "an argument is made for properties"
    return claim


@dataclass(frozen=True)
class Always:
    """The claim holds in every state of every run."""

    claim: GoalClaim


@dataclass(frozen=True)
class EventuallyAlways:
    """In every run the claim holds from some time on, and for good."""

    claim: GoalClaim


@dataclass(frozen=True)
class LeadsTo:
    """Whenever the premise holds, the conclusion holds then or later; if it is ``Always``, from then on for good."""

    premise: GoalClaim
    conclusion: GoalClaim | Always

    @property
    def lasting(self) -> bool:
        return isinstance(self.conclusion, Always)

    @property
    def reached(self) -> GoalClaim:
        """The claim that holds then or later."""
        return self.conclusion.claim if isinstance(self.conclusion, Always) else self.conclusion


TemporalGoal: TypeAlias = Always | EventuallyAlways | LeadsTo


def resolve_goal(goal: EventuallyAlways | LeadsTo, look: Callable[[GoalClaim], Property]) -> EventuallyAlways | LeadsTo:
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
                f"{shorten_value(candidate)} is not a goal",
                "name a property or give a function; or Always, EventuallyAlways of one, LeadsTo of two",
            )


def format_goal_name(goal: EventuallyAlways | LeadsTo) -> str:
    """Return the name of a goal in which names have been resolved."""
    if isinstance(goal, EventuallyAlways):
        return f"eventually always {require_property(goal.claim).name}"
    premise, reached = require_property(goal.premise), require_property(goal.reached)
    return f"{premise.name} leads to {'always ' if goal.lasting else ''}{reached.name}"


def describe_goal(goal: EventuallyAlways | LeadsTo) -> str:
    """Return the meaning of such a goal in words."""
    if isinstance(goal, EventuallyAlways):
        return f"in every run, from some time on and for good: {require_property(goal.claim).meaning}"
    good = " and for good" if goal.lasting else ""
    premise, reached = require_property(goal.premise), require_property(goal.reached)
    return f"whenever: {premise.meaning} then or later{good}: {reached.meaning}"
