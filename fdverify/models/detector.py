"""What a failure detector is made of, whatever the model around it: the parts that liveness is argued with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps

from fdverify.errors import UsageError
from fdverify.logic import And, If, Not, Number, Or, Truth, is_number, shortened
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
    truthful,
)

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
class Raise:
    """How a suspicion that is taken back makes the timeout longer: it is multiplied, and something is added."""

    times: int = 1
    plus: int = 0

    def __post_init__(self) -> None:
        for name, value, least in (("times", self.times, 1), ("plus", self.plus, 0)):
            if not is_number(value) or not isinstance(value, int) or value < least:
                raise UsageError(f"a raise has {name} = {shortened(value)}, not a whole number from {least} on")
        if (self.times, self.plus) == (1, 0):
            raise UsageError("a raise must make the timeout longer", "write Raise(plus=1) or Raise(times=2)")

    def of(self, timeout: Number) -> Number:
        """The timeout after a raise."""
        return self.times * timeout + self.plus

    def until(self, first: int, enough: int) -> int:
        """How often a timeout that a raise makes longer is to be raised until it is enough."""
        if self.times == 1:  # one by one, that may take as many steps as the bounds are large
            return max(0, -((first - enough) // self.plus))
        timeout, number = first, 0
        while timeout < enough:
            timeout, number = self.of(timeout), number + 1
        return number

    def in_words(self) -> str:
        """What a raise does to the timeout."""
        if self.times == 1:
            return f"raises the timeout by {self.plus}"
        added = f" and adds {self.plus}" if self.plus else ""
        return f"multiplies the timeout by {self.times}{added}"

    def repeated(self, first: str) -> str:
        """A timeout after n raises, as a formula to read."""
        if self.times == 1:
            return f"{first} + {self.plus}*n"
        added = f" + {self.plus}*({self.times}^n - 1)/{self.times - 1}" if self.plus else ""
        return f"{self.times}^n*{first}{added}"


ONE_MORE = Raise(plus=1)


@dataclass(frozen=True)
class Detector:
    """Who suspects whom, when a message is delivered, and what is learned from it.

    ``timeout`` and ``crash_clock`` are names of variables.  ``first_timeout`` names the parameter or the variable that
    holds the timeout from which on the bounds count.  ``learns`` is how a suspicion that is taken back makes it longer.
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
    """What reports call those who are suspected and who suspect."""

    def __post_init__(self) -> None:
        for name in ("suspects", "correct", "in_transit", "hears"):
            function = getattr(self, name)
            if not callable(function):
                raise UsageError(f"the detector's {name} is {shortened(function)}, not a function")
            object.__setattr__(self, name, truthful(f"the detector's {name}", function))
        if not isinstance(self.learns, Raise):
            raise UsageError(f"the detector's learns is {shortened(self.learns)}, not a Raise")

    def check(self, system: System) -> None:
        """Refuse names that the system does not have, or has for something else."""
        numbers = [v.name for v in system.variables if isinstance(v.sort, Integers)]
        flags = [v.name for v in system.variables if isinstance(v.sort, Flags)]
        parameters, phases = [p.name for p in system.parameters], [phase.name for phase in system.phases]
        late = self.stabilisation
        wanted = [
            ("receive", self.receive, phases, "phase"),
            ("timeout", self.timeout, numbers, "integer variable"),
            # What the bounds are made of must not change: only after stabilisation, premises see to that.
            ("first_timeout", self.first_timeout, parameters if late is None else numbers, "parameter or ghost"),
        ]
        if late is not None:
            wanted += [("since", late.since, numbers, "integer variable"), ("settled", late.settled, flags, "flag")]
        for part, name, known, kind in wanted:
            if name not in known:
                raise UsageError(f"{system.name}: the detector's {part} is {name!r}, which is no {kind} of it")

    def trusts(self, s: State) -> Truth:
        """Nobody is suspected who has not crashed."""
        return Not(And(self.suspects(s), self.correct(s)))

    def strong_accuracy(self) -> Property:
        return Property("strong-accuracy", self.trusts, f"a {self.watched} that has not crashed is not suspected")

    def liveness(self, with_crash: bool) -> tuple[Property, ...]:
        """What is wanted of every detector, from some time on."""
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

    def stable(self, s: State) -> Truth:
        """Whether the bounds held in the round that led here."""
        return True if self.stabilisation is None else s[self.stabilisation.since] >= 0

    def settled(self, s: State) -> Truth:
        """Whether what was learned before the bounds held has been corrected by a delivery."""
        return True if self.stabilisation is None else s[self.stabilisation.settled]


def with_quiet_clock(system: System, detector: Detector) -> System:
    """The same system, with a ghost that counts the rounds since the last delivery, and that no phase of it sees."""

    def clocked(s: State, c: Choices, made: Update) -> Update:
        begins = detector.stabilisation is not None and s[detector.stabilisation.since] <= 0
        quiet = If(detector.hears(c), 0, If(begins, 0, s[QUIET]) + 1)
        return replace(made, changes={**made.changes, QUIET: quiet})

    def unaware(phase: Phase) -> Phase:
        @wraps(phase.run)
        def run(s: State, c: Choices) -> Update:
            made = phase.run(State({name: value for name, value in s.values().items() if name != QUIET}), c)
            if QUIET in made.changes:
                raise UsageError(f"phase {phase.name} sets {QUIET}, which counts for the proof alone")
            return clocked(s, c, made) if phase.name == detector.receive else made

        return replace(phase, run=run)

    clock = Variable(QUIET, Integers(), initial=lambda s: 0, range=lambda s: s[QUIET] >= 0, ghost=True, clock=True)
    phases = tuple(unaware(phase) for phase in system.phases)
    return replace(system, phases=phases, variables=(*system.variables, clock))
