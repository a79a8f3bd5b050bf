"""How a correct target comes to be suspected: answers that are too late, or as many lost messages as may be.

In both runs every check fails: each takes as long as the timeout, and the next one begins as soon as it is due.
"""

from __future__ import annotations

from typing import Any

from fdverify.detectors.missed_checks.check_parts import (
    CheckParts,
    CheckStep,
    compute_safe_timeout,
    compute_safe_tolerance,
)
from fdverify.logic import And, If, Max, Min, Not, Number, Or, Truth
from fdverify.models.planned_runs import WorstRun
from fdverify.models.system import Property, State

TOO_SHORT = Property("too-short", lambda s: s.initial_timeout < compute_safe_timeout(s), "the timeout is not safe")
TAKES_TIME = Property("takes-time", lambda s: s.delta >= 1, "a message may take a round")
TOO_FEW = Property("too-few", lambda s: s.tolerance < compute_safe_tolerance(s), "too few missed checks are tolerated")


def build_late_answers(parts: CheckParts) -> WorstRun:
    """Build the run in which each answer takes as long as it may, which is too long; nothing is lost.

    The target runs in the round in which a check is given up, so that it may pause again in the next check.
    """

    def is_asked(s: State) -> Truth:
        """Return whether a ping is in transit in the round that begins."""
        return Or(_begins(s), And(_is_waiting(s), Not(s.pings.empty())))

    def compute_age(s: State) -> Number:
        """Return the age of the check in the round that begins."""
        return If(_is_waiting(s), s.elapsed + 1, 0)

    def plan_round(s: State) -> dict[str, Any]:
        arrives = And(is_asked(s), compute_age(s) >= s.delta)
        pauses = And(arrives, s.target_paused < s.pause, compute_age(s) < s.timeout)
        return {
            "target_crashes": False,
            "target_pauses": pauses,
            "pings_loses": False,
            "pongs_loses": False,
            "pings_delivered": (And(arrives, Not(pauses)), [s.delta]),
            "pongs_delivered": frozenset(),
        }

    def is_on_the_way(s: State) -> Truth:
        ping = And(
            s.pongs.empty(),
            Not(s.pings.any(0, Min(s.elapsed, s.delta) - 1)),
            Not(s.pings.any(s.elapsed + 1, s.delta)),
            s.elapsed < s.delta + s.pause,
            s.target_paused == Max(s.elapsed - s.delta + 1, 0),
        )
        pong = And(
            s.pings.empty(),
            Not(s.pongs.any(s.elapsed - s.delta - s.pause + 1, s.delta)),
            s.elapsed >= s.delta + s.pause,
            s.target_paused == 0,
        )
        asked = If(s.pings.empty(), pong, ping)
        return And(_is_ordinary(parts, s), If(_is_waiting(s), asked, And(_is_quiet(s), s.target_paused == 0)))

    return WorstRun("strong-accuracy", is_on_the_way, lambda s: _count_rounds_left(parts, s), plan_round)


def build_lost_messages(parts: CheckParts) -> WorstRun:
    """Build the run in which pings are lost, as many in a row as may be, and then the one answer that is sent."""

    def plan_round(s: State) -> dict[str, Any]:
        ping_is_lost = s.pings_lost < s.losses
        return {
            "target_crashes": False,
            "target_pauses": False,
            "pings_loses": And(_begins(s), ping_is_lost),
            "pongs_loses": And(_begins(s), Not(ping_is_lost)),
            "pings_delivered": (And(_begins(s), Not(ping_is_lost)), [0]),
            "pongs_delivered": frozenset(),
        }

    def is_on_the_way(s: State) -> Truth:
        failed = s.misses + If(_is_waiting(s), 1, 0)
        counted = failed == s.pongs_lost * (s.losses + 1) + s.pings_lost
        return And(_is_ordinary(parts, s), _is_quiet(s), s.target_paused == 0, counted)

    return WorstRun("strong-accuracy", is_on_the_way, lambda s: _count_rounds_left(parts, s), plan_round)


def _is_waiting(s: State) -> Truth:
    waiting: Truth = s.check_step == CheckStep.Waits
    return waiting


def _begins(s: State) -> Truth:
    """Return whether a check begins in the round that begins in this state."""
    return And(Not(_is_waiting(s)), s.check_wait <= 1)


def _is_quiet(s: State) -> Truth:
    return And(s.pings.empty(), s.pongs.empty())


def _is_ordinary(parts: CheckParts, s: State) -> Truth:
    """Return what holds in every state of a run in which all checks fail."""
    lost = (s.pings_lost, s.pongs_lost)
    return And(
        parts.target.correct(s),
        s.timeout == s.initial_timeout,
        *(And(count >= 0, count <= s.losses) for count in lost),
        s.misses >= 0,
        If(
            _is_waiting(s), And(s.elapsed >= 0, s.elapsed < s.timeout), And(s.check_wait >= 1, s.check_wait <= s.period)
        ),
        Not(s.answered),
    )


def _count_rounds_left(parts: CheckParts, s: State) -> Number:
    """Return the number of rounds to the last check that fails, at most."""
    here = If(_is_waiting(s), s.timeout - s.elapsed, s.check_wait + s.timeout)
    return (s.tolerance - s.misses - 1) * parts.cycle(s) + here
