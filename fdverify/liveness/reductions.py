"""The registry of reductions, by name."""

from __future__ import annotations

from fdverify.errors import UsageError, suggest_name
from fdverify.liveness.argument import Reduction
from fdverify.liveness.crash_clock import CRASH_CLOCK
from fdverify.liveness.fair_ranking import FAIR_RANKING
from fdverify.liveness.goals import EventuallyAlways, LeadsTo, TemporalGoal
from fdverify.liveness.timeout_guard import TIMEOUT_GUARD

REDUCTIONS = {reduction.name: reduction for reduction in (TIMEOUT_GUARD, CRASH_CLOCK, FAIR_RANKING)}


def find_reduction(goal: str | TemporalGoal | None, by: str | None) -> Reduction | None:
    """Return the reduction of a liveness goal; a goal about states needs none."""
    needed = isinstance(goal, EventuallyAlways | LeadsTo)
    fitting = [reduction.name for reduction in REDUCTIONS.values() if isinstance(goal, reduction.goal)]
    hint = f'write by="{fitting[0]}"' if fitting else None
    if by is None:
        if needed:
            raise UsageError("a liveness goal needs a reduction", hint)
        return None
    if not isinstance(by, str) or by not in REDUCTIONS:
        raise UsageError(f"there is no reduction {by}", suggest_name(str(by), REDUCTIONS))
    if not needed:
        raise UsageError(f"{by} reduces a liveness goal, and this goal is about states", "leave `by` out")
    if by not in fitting:
        raise UsageError(f"{by} is not a reduction for {type(goal).__name__}", hint)
    return REDUCTIONS[by]
