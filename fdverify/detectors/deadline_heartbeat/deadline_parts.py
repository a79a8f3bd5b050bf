"""The parts of the detector: a sender with a heartbeat task, a lossy channel, and a monitor with a checking task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fdverify.logic import And, Implies, Number, Truth
from fdverify.models.participants import Cast, Channel, Role
from fdverify.models.system import Parameter, Property, State
from fdverify.parts import FixedDelayTask, FixedRateTask, LossyChannel, PausingProcess, PeriodicTask, Silence

FIXED_RATE, FIXED_DELAY = "fixed-rate", "fixed-delay"
TASKS = (FIXED_RATE, FIXED_DELAY)
PARAMETERS = (
    Parameter("delta", least=0, value=None, meaning="longest delay of a heartbeat", small=(1, 0, 2)),
    Parameter("soonest", least=0, value=None, meaning="shortest delay of a heartbeat", small=(0, 1)),
    Parameter("period", least=1, value=None, meaning="from one heartbeat to the next", small=(2, 1, 3)),
    Parameter("losses", least=0, value=None, meaning="how many heartbeats in a row may be lost", small=(1, 0)),
    Parameter("pause", least=0, value=None, meaning="longest pause of the sender", small=(1, 0)),
    Parameter("stall", least=0, value=None, meaning="longest pause of the monitor", small=(1, 0)),
    Parameter("interval", least=1, value=None, meaning="from one check of the monitor to the next", small=(1, 2)),
    Parameter("first", least=1, value=None, meaning="the round of the first check", small=(1, 2)),
)
SAFE_TIMEOUT = "(losses+1)*(period+pause)+delta-soonest"
LAST, FIRST = "last", "first"
DELAYS = Property("delays", lambda s: s.soonest <= s.delta, "the shortest delay is not above the longest")


@dataclass(frozen=True)
class DeadlineParts:
    """The parts, as the options choose them."""

    task: str
    crash: bool = False
    encoding: str = "predicate"

    @cached_property
    def sender(self) -> PausingProcess:
        return PausingProcess("sender", longest_pause=lambda s: s.pause, crashes=self.crash)

    @cached_property
    def monitor(self) -> PausingProcess:
        return PausingProcess("monitor", longest_pause=lambda s: s.stall)

    @cached_property
    def beat(self) -> PeriodicTask:
        """The task that sends heartbeats; the first one is sent in the first round."""
        if self.task == FIXED_RATE:
            return FixedRateTask("beat", self.sender, period=lambda s: s.period)
        return FixedDelayTask("beat", self.sender, period=lambda s: s.period)

    @cached_property
    def check(self) -> FixedDelayTask:
        """The task that judges the sender."""
        return FixedDelayTask("check", self.monitor, period=lambda s: s.interval, first=lambda s: s.first)

    @cached_property
    def channel(self) -> LossyChannel:
        return LossyChannel("heartbeats", "delta", lambda s: s.soonest, lambda s: s.losses, encoding=self.encoding)

    @cached_property
    def silence(self) -> Silence:
        """The rounds since the monitor heard a heartbeat, or since the start, when the sender was registered."""
        return Silence("silence", self.beat, self.channel, matters=lambda s: s.timeout, registered=True)

    @property
    def cast(self) -> Cast:
        crashing = ("sender_crashes", "sender_crashed", "sender_since_crash") if self.crash else ()
        sends = ("sender_paused", "sender_pauses", "beat_step", "beat_wait", *crashing)
        watches = ("monitor_paused", "monitor_pauses", "check_step", "check_wait", "silence", "timeout", "suspected")
        delivered = "heartbeats_delivered"
        return Cast(
            processes=(Role("sender", owns=sends), Role("monitor", owns=(*watches, delivered))),
            channels=(Channel("heartbeats", sender="sender", receiver="monitor", delivered=delivered),),
        )

    def is_detected_in_time(self, s: State) -> Truth:
        """Return whether a sender that crashed long enough ago is suspected.

        Its last heartbeat is delivered after Δ and one pause of the monitor.  The silence reaches the timeout, and the
        next check comes an interval and one pause after the last one that found the silence too short.
        """
        regular = s.first <= s.interval
        return Implies(And(regular, self.sender.since_crash(s) >= self.latest_detection(s)), s.suspected)

    def latest_detection(self, s: State) -> Number:
        """Return from which round after a crash on the sender is suspected; round 0 is the first without the sender."""
        return s.delta + s.timeout + s.interval + 2 * s.stall - 2
