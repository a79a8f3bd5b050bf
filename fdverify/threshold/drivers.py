"""Ways to look for a run."""

from __future__ import annotations

from collections.abc import Callable

from fdverify.threshold.problem import Problem
from fdverify.threshold.query import query, query_tracking
from fdverify.threshold.realise import Confirm, Outcome
from fdverify.threshold.search import search, search_among

AUTO = "auto"
_FEW_TRACKED = 6
_FEW_NODES = 60


def auto(problem: Problem, confirm: Confirm) -> Outcome:
    """The query, unless many thresholds must be tracked: then a search, if there are few orders of them."""
    return (
        query_tracking(problem, confirm, _FEW_TRACKED)
        or search_among(problem, confirm, _FEW_NODES)
        or query(problem, confirm)
    )


DRIVERS: dict[str, Callable[[Problem, Confirm], Outcome]] = {AUTO: auto, "query": query, "search": search}
