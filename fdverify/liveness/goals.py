"""Temporal goals.  What is claimed inside of one is a property of the model, by name, or a function of the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fdverify.logic import Truth
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


TemporalGoal: TypeAlias = Always | EventuallyAlways | LeadsTo
