"""How a correct sender comes to be suspected: one heartbeat comes early, and the next that is not lost comes late.

The first heartbeat takes the shortest delay.  The next ones are lost, as many as may be.  The one after that takes the
longest delay, and pauses of the sender make it as late as possible.  The first check comes right before it arrives.
"""

from __future__ import annotations

from typing import Any

from fdverify.detectors.deadline_heartbeat.deadline_parts import FIXED_DELAY, DeadlineParts
from fdverify.logic import And, If, Max, Not, Number, Or, Truth
from fdverify.models.planned_runs import WorstRun
from fdverify.models.system import Property, State


def list_side_conditions(parts: DeadlineParts) -> tuple[Property, ...]:
    """List what the parameters must be so that the run ends in a wrong suspicion."""
    return (
        Property("too-short", lambda s: s.initial_timeout < parts.silence.longest(s), "the timeout is not safe"),
        Property(
            "checked-then",
            lambda s: s.first == parts.silence.longest(s) + s.soonest,
            "the first check comes right before the late heartbeat",
        ),
        Property("soon", lambda s: s.soonest < s.period, "the shortest delay is shorter than the period"),
        Property(
            "short-pauses",
            lambda s: Or(parts.task == FIXED_DELAY, s.pause < s.period),
            "at a fixed rate, pauses are shorter than the period",
        ),
    )


def build_late_heartbeat(parts: DeadlineParts) -> WorstRun:
    """Build the run in which a heartbeat comes too late; it ends with the first check."""
    beat, channel = parts.beat, parts.channel
    variables = [each for part in (parts.sender, beat, channel) for each in part.variables()]

    def count_rounds(s: State) -> Number:
        """Return the number of rounds since the first heartbeat was sent, which is -1 at the start."""
        return s.first - s.check_wait - 1

    def compute_late_beat(s: State) -> Number:
        """Return the round in which the late heartbeat is sent."""
        return (s.losses + 1) * beat.gap(s) + beat.lateness(s)

    def is_before_late_beat(s: State) -> Truth:
        return count_rounds(s) < compute_late_beat(s)

    def may_pause(s: State) -> Truth:
        last = True if parts.task == FIXED_DELAY else s.heartbeats_lost == s.losses
        begun = And(count_rounds(s) >= 0, is_before_late_beat(s))
        return And(begun, last, Or(s.beat_wait <= 1, beat.is_due(s)), s.sender_paused < s.pause)

    def plan_round(s: State) -> dict[str, Any]:
        runs = And(Or(s.beat_wait <= 1, beat.is_due(s)), Not(may_pause(s)))
        lost = And(count_rounds(s) >= 0, is_before_late_beat(s), runs, s.heartbeats_lost < s.losses)
        return {
            "sender_crashes": False,
            "sender_pauses": may_pause(s),
            "monitor_pauses": False,
            "heartbeats_loses": lost,
            "heartbeats_delivered": (count_rounds(s) + 1 == s.soonest, [s.soonest]),
        }

    def is_on_the_way(s: State) -> Truth:
        now = count_rounds(s)
        only_first = And(
            s.heartbeats.has(now), Not(s.heartbeats.any(now + 1, s.delta)), Not(s.heartbeats.any(0, now - 1))
        )
        under_way = If(And(now >= 0, now < s.soonest), only_first, s.heartbeats.empty())
        early = And(
            now == channel.lost(s) * beat.gap(s) + beat.since(s),
            under_way,
            s.sender_paused == If(beat.is_due(s), beat.overdue(s) + 1, 0),
        )
        start = And(
            s.heartbeats.empty(), s.heartbeats_lost == 0, s.sender_paused == 0, s.beat_wait == 1, Not(beat.is_due(s))
        )
        late = Not(s.heartbeats.any(now - compute_late_beat(s) + 1, s.delta))
        return And(
            *(variable.is_in_range(s) for variable in variables),
            s.timeout == s.initial_timeout,
            parts.sender.correct(s),
            s.monitor_paused == 0,
            s.check_wait >= 1,
            Not(s.suspected),
            now >= -1,
            s.silence == If(now < s.soonest, now + 1, now - s.soonest),
            If(now < 0, start, If(is_before_late_beat(s), early, late)),
        )

    return WorstRun("strong-accuracy", is_on_the_way, lambda s: Max(s.check_wait, 0), plan_round)
