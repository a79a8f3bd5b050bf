"""The drivers: strategies to find a run."""

from __future__ import annotations

from collections.abc import Callable

from fdverify.threshold.runs.outcome import Outcome, Watch
from fdverify.threshold.runs.problem import Problem
from fdverify.threshold.runs.query import query, query_tracking
from fdverify.threshold.runs.search import search, search_among

AUTO = "auto"
_FEW_TRACKED = 6
_FEW_NODES = 60


def auto(problem: Problem, watch: Watch) -> Outcome:
    """Try a query that tracks few thresholds, then a small search, then the full query."""
    return (
        query_tracking(problem, watch, _FEW_TRACKED)
        or search_among(problem, watch, _FEW_NODES)
        or query(problem, watch)
    )


DRIVERS: dict[str, Callable[[Problem, Watch], Outcome]] = {AUTO: auto, "query": query, "search": search}
