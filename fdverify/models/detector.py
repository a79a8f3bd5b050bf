"""Failure detectors: the parts of a model that liveness arguments refer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps

from fdverify.errors import UsageError
from fdverify.logic import And, If, Not, Number, Or, Truth, is_number, shorten_value
from fdverify.models.system import (
    Choices,
    Flags,
    Integers,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    require_truth_value,
)

QUIET = "hquiet"
"""The name of a ghost that counts the rounds since the last delivery, or since the bounds began to hold."""


@dataclass(frozen=True)
class Stabilisation:
    """Bounds that hold only from an unknown time on; both fields name variables.

    ``since`` counts the rounds since then and is negative before.  ``settled`` says that a message was delivered since.
    """

    since: str
    settled: str


@dataclass(frozen=True)
class Raise:
    """How a retracted suspicion raises the timeout: it is multiplied by ``times``, then ``plus`` is added."""

    times: int = 1
    plus: int = 0

    def __post_init__(self) -> None:
        for name, value, least in (("times", self.times, 1), ("plus", self.plus, 0)):
            if not is_number(value) or not isinstance(value, int) or value < least:
                raise UsageError(f"Raise: {name} must be an integer of at least {least}, got {shorten_value(value)}")
        if (self.times, self.plus) == (1, 0):
            raise UsageError("a raise must make the timeout longer", "write Raise(plus=1) or Raise(times=2)")

    def apply(self, timeout: Number) -> Number:
        """Return the timeout after a raise."""
        return self.times * timeout + self.plus

    def count_until(self, first: int, enough: int) -> int:
        """Count the raises until the timeout is at least ``enough``; a raise must make ``first`` longer."""
        if self.times == 1:  # a loop would take as many steps as the bounds are large
            return max(0, -((first - enough) // self.plus))
        timeout, raises = first, 0
        while timeout < enough:
            timeout, raises = self.apply(timeout), raises + 1
        return raises

    def describe(self) -> str:
        """Describe what a raise does to the timeout."""
        if self.times == 1:
            return f"raises the timeout by {self.plus}"
        added = f" and adds {self.plus}" if self.plus else ""
        return f"multiplies the timeout by {self.times}{added}"

    def format_repeated(self, first: str) -> str:
        """Format the timeout after n raises as a formula to read."""
        if self.times == 1:
            return f"{first} + {self.plus}*n"
        added = f" + {self.plus}*({self.times}^n - 1)/{self.times - 1}" if self.plus else ""
        return f"{self.times}^n*{first}{added}"


ONE_MORE = Raise(plus=1)


@dataclass(frozen=True)
class Detector:
    """A failure detector: who suspects whom, when a message is delivered, and what a retracted suspicion changes.

    ``timeout`` and ``crash_clock`` name variables.  ``first_timeout`` names the parameter or variable that holds the
    first timeout, which the bounds refer to.  ``learns`` says how a retracted suspicion raises the timeout.
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
    learns: Raise = ONE_MORE
    watched: str = "sender"
    watcher: str = "receiver"
    """The names in reports of the suspected process and of the suspecting one."""
    counts_rounds: bool = False
    """Whether the timeout is a number of rounds; otherwise it is one of the watcher's steps."""

    def __post_init__(self) -> None:
        for name in ("suspects", "correct", "in_transit", "hears"):
            function = getattr(self, name)
            if not callable(function):
                raise UsageError(f"the detector's {name} is {shorten_value(function)}, not a function")
            object.__setattr__(self, name, require_truth_value(f"the detector's {name}", function))
        if not isinstance(self.learns, Raise):
            raise UsageError(f"the detector's learns is {shorten_value(self.learns)}, not a Raise")

    def check(self, system: System) -> None:
        """Refuse names that the system lacks or uses for something else."""
        numbers = [v.name for v in system.variables if isinstance(v.sort, Integers)]
        flags = [v.name for v in system.variables if isinstance(v.sort, Flags)]
        parameters, phases = [p.name for p in system.parameters], [phase.name for phase in system.phases]
        late = self.stabilisation
        # The bounds refer to the first timeout, so it must not change.  With stabilisation, premises ensure that.
        firsts, first_kind = (parameters, "a parameter") if late is None else (numbers, "an integer variable")
        expected = [
            ("receive", self.receive, phases, "a phase"),
            ("timeout", self.timeout, numbers, "an integer variable"),
            ("first_timeout", self.first_timeout, firsts, first_kind),
        ]
        if late is not None:
            expected.append(("since", late.since, numbers, "an integer variable"))
            expected.append(("settled", late.settled, flags, "a flag"))
        for part, name, known, kind in expected:
            if name not in known:
                raise UsageError(f"{system.name}: the detector's {part} is {name!r}, which is not {kind}")

    def trusts(self, s: State) -> Truth:
        """Return whether no correct process is suspected."""
        return Not(And(self.suspects(s), self.correct(s)))

    def strong_accuracy(self) -> Property:
        return Property("strong-accuracy", self.trusts, f"a {self.watched} that has not crashed is not suspected")

    def liveness(self, with_crash: bool) -> tuple[Property, ...]:
        """List the liveness properties that every detector should have."""
        accuracy = Property(
            "eventually-strong-accuracy",
            self.trusts,
            f"from some time on, a {self.watched} that has not crashed is not suspected",
        )
        completeness = Property(
            "strong-completeness",
            lambda s: Or(self.correct(s), self.suspects(s)),
            f"from some time on, a crashed {self.watched} is suspected, and for good",
        )
        return (accuracy, completeness) if with_crash else (accuracy,)

    def is_stable(self, s: State) -> Truth:
        """Return whether the bounds held in the round that led to this state."""
        return True if self.stabilisation is None else s[self.stabilisation.since] >= 0

    def is_settled(self, s: State) -> Truth:
        """Return whether a delivery has corrected what was learned before the bounds held."""
        return True if self.stabilisation is None else s[self.stabilisation.settled]


def add_quiet_clock(system: System, detector: Detector) -> System:
    """Add a ghost that counts the rounds since the last delivery; the phases of the system do not see it."""

    def advance_clock(s: State, c: Choices, effect: Update) -> Update:
        begins = detector.stabilisation is not None and s[detector.stabilisation.since] <= 0
        quiet = If(detector.hears(c), 0, If(begins, 0, s[QUIET]) + 1)
        return replace(effect, changes={**effect.changes, QUIET: quiet})

    def hide_clock(phase: Phase) -> Phase:
        @wraps(phase.run)
        def run_without_clock(s: State, c: Choices) -> Update:
            effect = phase.run(State({name: value for name, value in s.values().items() if name != QUIET}), c)
            if QUIET in effect.changes:
                raise UsageError(f"phase {phase.name} sets {QUIET}, which is reserved for the proof")
            return advance_clock(s, c, effect) if phase.name == detector.receive else effect

        return replace(phase, run=run_without_clock)

    clock = Variable(QUIET, Integers(), initial=lambda s: 0, range=lambda s: s[QUIET] >= 0, ghost=True, clock=True)
    phases = tuple(hide_clock(phase) for phase in system.phases)
    return replace(system, phases=phases, variables=(*system.variables, clock))
