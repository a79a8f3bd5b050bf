"""Measurements on worker processes; one failure makes the whole series fail."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from fdverify.bounds.detector_instance import NoBound
from fdverify.model_check.check_request import CheckRequest
from fdverify.workers.executor import Task, TaskOutcome
from fdverify.workers.pool import Pool


class MeasuringTimeExceeded(Exception):
    """The time limit was reached before everything was measured."""


def blame_model_file(request: CheckRequest, tasks: Mapping[Any, Callable[[], Any]]) -> dict[Any, Callable[[], Any]]:
    """Wrap the tasks so that what the author's model raises is reported as bad input, with its place."""
    return {key: partial(request.blame_file, measure) for key, measure in tasks.items()}


def run_measurements(
    tasks: Mapping[Any, Callable[[], Any]], deadline: float | None, report: Callable[[str], None]
) -> dict[Any, Any]:
    """Run all tasks, and return their results by key, in the order of the tasks."""
    results: dict[Any, Any] = {}
    errors: dict[Any, Exception] = {}

    def record_outcome(task: Task, outcome: TaskOutcome) -> Iterable[Task]:
        if outcome.error is not None:
            errors[task.key] = outcome.error
        elif outcome.lost is not None:
            if outcome.out_of_time:
                raise MeasuringTimeExceeded
            raise NoBound(f"an instance could not be measured: {outcome.lost}")
        else:
            results[task.key] = outcome.value
            report(f"{len(results)} of {len(tasks)} groups of instances explored")
        # Which task fails first is chance, so an error is raised once all tasks before it in order have succeeded.
        first = next((key for key in tasks if key not in results), None)
        if first in errors:
            raise errors[first]
        return ()

    with Pool(len(os.sched_getaffinity(0))) as pool:
        pool.run_tasks(
            [Task(key, measure, patience=math.inf) for key, measure in tasks.items()], record_outcome, deadline
        )
    return {key: results[key] for key in tasks}
