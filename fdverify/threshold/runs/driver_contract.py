"""The contract of drivers: their callbacks and their outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from fdverify.threshold.runs.concretise import ConcreteRun


@dataclass(frozen=True)
class DriverOutcome:
    """The answer of a driver: no run, a run, or unknown with the facts that the solver could not decide."""

    status: Literal["none", "found", "unknown"]
    reason: str = ""
    run: ConcreteRun | None = None
    facts: tuple[Any, ...] = ()


@dataclass(frozen=True)
class DriverCallbacks:
    """Callbacks that a driver calls while it works."""

    confirm: Callable[[list[Any], str], str | None]
    """Return why a second solver does not confirm the status of these facts, or None if it does."""
    report: Callable[[str], None]
    """Report the progress of the driver."""
