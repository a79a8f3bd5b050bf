"""Checks of instances by worker processes on this machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from fdverify.discovery.map.instance import answer
from fdverify.model_check.check_request import CheckRequest
from fdverify.smt.pool import Outcome, Pool, Task

Told = Callable[[int, Outcome], None]
"""A callback that receives the number of a request and its outcome: an answer, an error, or why there is neither."""


def over_processes(work: Mapping[int, CheckRequest], workers: int, time_limit: float | None, handle: Told) -> None:
    def finished(task: Task, outcome: Outcome) -> Iterable[Task]:
        handle(task.key, outcome)
        return ()

    # Nothing is shown before everything is done, so it does not pay to set a long task aside for others.
    tasks = [Task(number, partial(answer, job), time_limit, patience=math.inf) for number, job in work.items()]
    with Pool(workers) as pool:
        pool.run(tasks, finished)
