"""What a failure detector is made of, whatever the model around it: the parts that liveness is argued with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from fdverify.logic import If, Truth
from fdverify.models.system import Choices, Integers, State, System, Update, Variable

QUIET = "hquiet"
"""The ghost that counts the rounds since the last delivery, or since the bounds began to hold."""


@dataclass(frozen=True)
class Stabilisation:
    """Bounds that hold from an unknown time on; both are names of variables.

    ``since`` counts the rounds since then and is negative before.  ``settled`` says that a message was delivered since.
    """

    since: str
    settled: str


@dataclass(frozen=True)
class Detector:
    """Who suspects whom, when a message is delivered, and what is learned from it.

    ``timeout`` and ``crash_clock`` are names of variables.  ``first_timeout`` names the parameter or the variable that
    holds the timeout from which on the bounds count.
    """

    suspects: Callable[[State], Truth]
    correct: Callable[[State], Truth]
    in_transit: Callable[[State], Truth]
    receive: str
    hears: Callable[[Choices], Truth]
    timeout: str
    first_timeout: str
    crash_clock: str
    stabilisation: Stabilisation | None = None

    def stable(self, s: State) -> Truth:
        """Whether the bounds held in the round that led here."""
        return True if self.stabilisation is None else s[self.stabilisation.since] >= 0

    def settled(self, s: State) -> Truth:
        """Whether what was learned before the bounds held has been corrected by a delivery."""
        return True if self.stabilisation is None else s[self.stabilisation.settled]


def with_quiet_clock(system: System, detector: Detector) -> System:
    """The same system, with a ghost that counts the rounds since the last delivery."""
    receive = system.phase(detector.receive)

    def run(s: State, c: Choices) -> Update:
        made = receive.run(s, c)
        begins = detector.stabilisation is not None and s[detector.stabilisation.since] <= 0
        quiet = If(detector.hears(c), 0, If(begins, 0, s[QUIET]) + 1)
        return replace(made, changes={**made.changes, QUIET: quiet})

    clock = Variable(QUIET, Integers(), initial=lambda s: 0, range=lambda s: s[QUIET] >= 0, ghost=True, clock=True)
    return replace(system.with_phase(detector.receive, run), variables=(*system.variables, clock))
