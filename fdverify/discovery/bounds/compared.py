"""The author's functions compared before anything is measured with them."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import Any

from fdverify.discovery.bounds.measure import crashing
from fdverify.discovery.bounds.survey import OutOfTime
from fdverify.errors import InternalError
from fdverify.job import Job
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker


def compare_functions(job: Job, deadline: float | None) -> None:
    """Refuse a model whose functions mean something else to one of the engines, without and with crashes."""
    crash = crashing(job.find_model())
    for options in (job.options, {**job.options, **crash}) if crash else (job.options,):
        left = None if deadline is None else max(0.1, deadline - monotonic())
        try:
            run_in_worker(replace(job, options=options).compare, left, _ignore)
        except TimeLimitReached:
            raise OutOfTime from None
        except WorkerDied as end:
            raise InternalError(f"functions could not be compared: {end}") from None


def _ignore(event: Any) -> None:
    """Comparing functions has no events worth telling."""
