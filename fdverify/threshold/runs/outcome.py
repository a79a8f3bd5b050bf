"""What drivers are told, and what they find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from fdverify.threshold.runs.realise import Found


@dataclass(frozen=True)
class Outcome:
    """Whether there is a run; if that is unknown, the facts about which a solver did not know."""

    status: Literal["none", "found", "unknown"]
    reason: str = ""
    found: Found | None = None
    facts: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Watch:
    """Who looks on while a driver works."""

    confirm: Callable[[list[Any], str], str | None]
    """Why another solver does not confirm an answer to these facts; none if it does."""
    report: Callable[[str], None]
    """Told how far the driver is."""
