"""The check of the cells of a sweep on worker processes, with digests of the sources that an answer depends on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from fdverify.model_check.check_request import CheckRequest
from fdverify.models.loading import collect_loaded_contents
from fdverify.verdict import Verdict, ignore_progress
from fdverify.workers.backends import WorkerSettings, open_executor
from fdverify.workers.executor import Task, TaskOutcome
from fdverify.workers.software import digest_running_package

PACKAGE = "fdverify"
"""The name of this package among the sources."""
CellHandler = Callable[[int, TaskOutcome], None]
"""A callback that receives the number of a request and its outcome: an answer, an error, or why there is neither."""


@dataclass(frozen=True)
class CellAnswer:
    """The verdict on an instance, and the digests of the files that were run for it, by name.

    ``rounds`` is the length of a shortest run to a violation or a dead end, which was replayed.
    """

    verdict: Verdict
    detail: str
    rounds: int | None
    sources: Mapping[str, str]


def check_cell(request: CheckRequest) -> CellAnswer:
    result = request.run_engine(ignore_progress)
    # The sources are listed afterwards: a model may import a file beside it as late as in a phase.
    return CellAnswer(
        result.verdict, result.detail, None if result.run is None else len(result.run.rounds), digest_sources()
    )


def digest_sources() -> dict[str, str]:
    """Digest the sources of this process: this package, and the users' files as they were when loaded."""
    users = {str(path): sha256(content).hexdigest() for path, content in collect_loaded_contents().items()}
    return {PACKAGE: digest_running_package(), **users}


def check_cells(
    requests: Mapping[int, CheckRequest], workers: WorkerSettings, time_limit: float | None, handle: CellHandler
) -> None:
    """Check cells by worker processes; the time limit is for each of them."""

    def pass_outcome(task: Task, outcome: TaskOutcome) -> Iterable[Task]:
        handle(task.key, outcome)
        return ()

    # Nothing is shown before everything is done, so it does not pay to set a long task aside for others.
    tasks = [
        Task(number, partial(check_cell, request), time_limit, patience=math.inf)
        for number, request in requests.items()
    ]
    with open_executor(workers) as executor:
        executor.run_tasks(tasks, pass_outcome)
