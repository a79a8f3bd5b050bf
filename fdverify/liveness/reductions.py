"""The reductions, by name."""

from __future__ import annotations

from fdverify.liveness.crash_clock import CRASH_CLOCK
from fdverify.liveness.fair_ranking import FAIR_RANKING
from fdverify.liveness.timeout_guard import TIMEOUT_GUARD

REDUCTIONS = {reduction.name: reduction for reduction in (TIMEOUT_GUARD, CRASH_CLOCK, FAIR_RANKING)}
