"""Measurements on worker processes, all of them or none."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from fdverify.discovery.bounds.instance import NoBound
from fdverify.model_check.check_request import CheckRequest
from fdverify.smt.pool import Outcome, Pool, Task


class OutOfTime(Exception):
    """The time limit was reached before all was measured."""


def blamed(job: CheckRequest, tasks: Mapping[Any, Callable[[], Any]]) -> dict[Any, Callable[[], Any]]:
    """The same tasks; what the job's model raises in them is bad input, with its place."""
    return {key: partial(job.blaming_the_file, work) for key, work in tasks.items()}


def survey(
    tasks: Mapping[Any, Callable[[], Any]], deadline: float | None, report: Callable[[str], None]
) -> dict[Any, Any]:
    """What comes of each task, by its key, in their order."""
    found: dict[Any, Any] = {}
    errors: dict[Any, Exception] = {}

    def finished(task: Task, outcome: Outcome) -> Iterable[Task]:
        if outcome.error is not None:
            errors[task.key] = outcome.error
            return ()
        if outcome.lost is not None:
            if outcome.out_of_time:
                raise OutOfTime
            raise NoBound(f"an instance could not be measured: {outcome.lost}")
        found[task.key] = outcome.value
        report(f"{len(found)} of {len(tasks)} rows of instances explored")
        return ()

    with Pool(len(os.sched_getaffinity(0))) as pool:
        pool.run([Task(key, work, patience=math.inf) for key, work in tasks.items()], finished, deadline)
    # Which task is the first to fail is chance, so that of the first in their order is told.
    for key in tasks:
        if key in errors:
            raise errors[key]
    return {key: found[key] for key in tasks}
