"""The drivers: strategies to find a run."""

from __future__ import annotations

from collections.abc import Callable

from fdverify.threshold.runs.query import run_bounded_query, run_query
from fdverify.threshold.runs.run_problem import DriverCallbacks, DriverOutcome, RunProblem
from fdverify.threshold.runs.search import run_bounded_search, run_search

AUTO = "auto"
_FEW_TRACKED = 6
_FEW_NODES = 60


def run_auto(problem: RunProblem, watch: DriverCallbacks) -> DriverOutcome:
    """Try a query that tracks few thresholds, then a small search, then the full query."""
    return (
        run_bounded_query(problem, watch, _FEW_TRACKED)
        or run_bounded_search(problem, watch, _FEW_NODES)
        or run_query(problem, watch)
    )


DRIVERS: dict[str, Callable[[RunProblem, DriverCallbacks], DriverOutcome]] = {
    AUTO: run_auto,
    "query": run_query,
    "search": run_search,
}
