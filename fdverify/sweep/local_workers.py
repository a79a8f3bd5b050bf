"""Checks of instances by worker processes on this machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from fdverify.model_check.check_request import CheckRequest
from fdverify.sweep.cell_check import check_cell
from fdverify.workers.pool import Pool, Task, TaskOutcome

OutcomeHandler = Callable[[int, TaskOutcome], None]
"""A callback that receives the number of a request and its outcome: an answer, an error, or why there is neither."""


def check_on_processes(
    work: Mapping[int, CheckRequest], workers: int, time_limit: float | None, handle: OutcomeHandler
) -> None:
    def pass_outcome(task: Task, outcome: TaskOutcome) -> Iterable[Task]:
        handle(task.key, outcome)
        return ()

    # Nothing is shown before everything is done, so it does not pay to set a long task aside for others.
    tasks = [Task(number, partial(check_cell, job), time_limit, patience=math.inf) for number, job in work.items()]
    with Pool(workers) as pool:
        pool.run_tasks(tasks, pass_outcome)
