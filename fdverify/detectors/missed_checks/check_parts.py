"""The parts of the detector: a target that pauses and may crash, and a channel each way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from fdverify.logic import And, Implies, Max, Not, Number, Truth
from fdverify.models.participants import Cast, Channel, Role
from fdverify.models.system import Parameter, State
from fdverify.parts import LossyChannel, PausingProcess

FIXED_DELAY, FIXED_RATE = "fixed-delay", "fixed-rate"
TASKS = (FIXED_DELAY, FIXED_RATE)
PARAMETERS = (
    Parameter("delta", least=0, value=None, meaning="longest delay of a message", small=(1, 0, 2)),
    Parameter("period", least=1, value=None, meaning="from one check to the next", small=(2, 1, 3)),
    Parameter("losses", least=0, value=None, meaning="how many messages in a row may be lost, each way", small=(1, 0)),
    Parameter("pause", least=0, value=None, meaning="longest pause of the target", small=(1, 0)),
    Parameter(
        "tolerance", least=1, value=None, meaning="how many missed checks in a row are too many", small=(4, 1, 2)
    ),
)
SAFE_TIMEOUT = "max(1,2*delta+pause)"


def compute_safe_timeout(s: State) -> Number:
    """Return the least timeout that a correct target always meets, unless a message is lost."""
    timeout: Number = 2 * s.delta + s.pause
    return timeout


def compute_safe_tolerance(s: State) -> Number:
    """Return the least number of missed checks that lost messages cannot cause."""
    checks: Number = (s.losses + 1) * (s.losses + 1)
    return checks


class CheckStep(IntEnum):
    """What the checker does between two rounds."""

    Rests = 0
    Waits = 1


@dataclass(frozen=True)
class CheckParts:
    """The parts, as the options choose them."""

    task: str = FIXED_DELAY
    crash: bool = False
    encoding: str = "predicate"

    @cached_property
    def target(self) -> PausingProcess:
        return PausingProcess("target", longest_pause=lambda s: s.pause, crashes=self.crash)

    @cached_property
    def checker(self) -> PausingProcess:
        """The process that checks; its own pauses count as delays."""
        return PausingProcess("checker")

    @cached_property
    def pings(self) -> LossyChannel:
        return LossyChannel("pings", "delta", losses=lambda s: s.losses, encoding=self.encoding)

    @cached_property
    def pongs(self) -> LossyChannel:
        return LossyChannel("pongs", "delta", losses=lambda s: s.losses, encoding=self.encoding)

    @property
    def cast(self) -> Cast:
        crashing = ("target_crashes", "target_crashed", "target_since_crash") if self.crash else ()
        answers = ("target_paused", "target_pauses", "target_answers", "pings_delivered", *crashing)
        checks = ("check_wait", "elapsed", "misses", "answered", "timeout", "pongs_delivered")
        return Cast(
            processes=(Role("checker", pc="check_step", owns=checks), Role("target", owns=answers)),
            channels=(
                Channel("pings", sender="checker", receiver="target", delivered="pings_delivered"),
                Channel("pongs", sender="target", receiver="checker", delivered="pongs_delivered"),
            ),
        )

    def starts(self, s: State) -> Truth:
        """Return whether a check begins in this round; call this after the phase that begins it."""
        return And(s.check_step == CheckStep.Waits, s.elapsed == 0)

    def gives_up(self, s: State) -> Truth:
        """Return whether the check fails in this round; call this before the phase that ends it."""
        return And(s.check_step == CheckStep.Waits, s.elapsed >= s.timeout, Not(s.answered))

    def wait_after_check(self, s: State) -> Number:
        """Return the number of rounds from the end of a check to the next one."""
        return s.period if self.task == FIXED_DELAY else Max(s.period - s.elapsed, 1)

    def is_suspected(self, s: State) -> Truth:
        suspected: Truth = s.misses >= s.tolerance
        return suspected

    def cycle(self, s: State) -> Number:
        """Return the number of rounds from the begin of a missed check to that of the next one, at most."""
        return s.period + s.timeout if self.task == FIXED_DELAY else Max(s.period, s.timeout + 1)

    def latest_first_check(self, s: State) -> Number:
        """Return in which round after a crash the first check begins that is missed, at the latest.

        The last answer was sent in the round before the crash, to a check that may have begun in that round.
        """
        return s.delta - 1 + s.period if self.task == FIXED_DELAY else Max(s.delta, s.period - 1)

    def latest_detection(self, s: State) -> Number:
        """Return from which round after a crash on the target is suspected; round 0 is the first without the target."""
        return self.latest_first_check(s) + (s.tolerance - 1) * self.cycle(s) + s.timeout

    def is_detected_in_time(self, s: State) -> Truth:
        return Implies(self.target.since_crash(s) >= self.latest_detection(s), self.is_suspected(s))
