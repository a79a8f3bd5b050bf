"""A pool of worker processes that runs many tasks with time limits and preemption."""

from __future__ import annotations

import math
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from multiprocessing.connection import Connection, wait
from time import monotonic
from types import TracebackType
from typing import Any

from fdverify.deadline import choose_earlier_deadline
from fdverify.errors import InternalError, ResourcesExhausted, describe_error
from fdverify.workers.executor import (
    EventHandler,
    OutcomeHandler,
    Task,
    TaskOutcome,
    abandon_tasks,
    ignore_event,
)
from fdverify.workers.worker_process import (
    EVENT,
    LOADED,
    get_process_context,
    limit_memory,
    prepare_process,
    run_parts,
    send_outcome,
    start_process,
)

_LONGEST_WAIT = 3600.0
_BEAT = 0.1
_SIGN_OF_LIFE = 1.0
_GROWTH = 4


class _Pickler(pickle.Pickler):
    """Pickles an object that the other process has inherited as its index among the inherited objects."""

    def __init__(self, file: BytesIO, inherited: Sequence[Any]) -> None:
        super().__init__(file)
        self._indices = {id(value): index for index, value in enumerate(inherited)}

    def persistent_id(self, value: Any) -> int | None:
        return self._indices.get(id(value))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, inherited: Sequence[Any]) -> None:
        super().__init__(file)
        self._inherited = inherited

    def persistent_load(self, index: int) -> Any:
        return self._inherited[index]


class _Worker:
    def __init__(self, memory_limit: int | None, inherited: Sequence[Any]) -> None:
        self.here, self._there = get_process_context().Pipe()
        self.process = get_process_context().Process(
            target=_serve_tasks, args=(self._there, memory_limit, inherited), daemon=True
        )
        self._inherited = inherited
        self.task: Task | None = None
        self.since = 0.0
        self.is_loading = False
        self.has_worked = False

    def start(self) -> None:
        start_process(self.process)
        self._there.close()

    def assign_task(self, task: Task) -> None:
        self.task, self.since, self.has_worked = task, monotonic(), True
        self.is_loading = task.loading is not None
        message = BytesIO()
        _Pickler(message, self._inherited).dump((task.loading, task.work, task.reports))
        with suppress(OSError):  # it has died, which is noticed on receiving
            self.here.send_bytes(message.getvalue())

    def get_time_limit(self) -> float:
        """Return the time limit of the task, which ends with its loading if it has any."""
        assert self.task is not None, "only a task has a time limit"
        has_loaded = self.task.loading is not None and not self.is_loading
        return math.inf if self.task.limit is None or has_loaded else self.task.limit

    def stop(self) -> None:
        if self.process.pid is not None:
            self.process.kill()
            self.process.join()
        self.here.close()


class Pool:
    """Runs tasks, whose outcomes may add further tasks, until none is left or the deadline has passed.

    Workers stay alive between runs until the pool is closed.  Every task may refer to the ``inherited`` objects; where
    processes are forked, these need not be picklable.
    """

    def __init__(self, jobs: int, memory_limit: int | None = None, inherited: Sequence[Any] = ()) -> None:
        self._jobs = jobs
        self._memory_limit = memory_limit
        self._inherited = inherited
        self._deadline: float | None = None
        self._longest_wait = _SIGN_OF_LIFE
        self._on_event: EventHandler = ignore_event
        self._workers: list[_Worker] = []
        self._waiting: deque[Task] = deque()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill all workers and drop all waiting tasks."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        self._waiting.clear()

    def run_tasks(
        self,
        tasks: Iterable[Task],
        on_outcome: OutcomeHandler,
        deadline: float | None = None,
        beat: Callable[[], None] | None = None,
        on_event: EventHandler = ignore_event,
    ) -> None:
        self._on_event = on_event
        self._deadline = choose_earlier_deadline(deadline)
        self._longest_wait = _SIGN_OF_LIFE if beat is None else _BEAT
        self._waiting.extend(tasks)
        try:
            while self._waiting or any(worker.task for worker in self._workers):
                if self._get_time_left() <= 0:
                    self._abandon_tasks(on_outcome)
                    return
                self._assign_tasks()
                if beat is not None:
                    beat()  # what it does costs no time while the workers are busy
                for task, outcome in self._collect_outcomes():
                    self._waiting.extend(on_outcome(task, outcome))
        except BaseException:
            self.close()  # an answer still to come must not be taken for the answer to another task
            raise

    def _get_time_left(self) -> float:
        return _LONGEST_WAIT if self._deadline is None else self._deadline - monotonic()

    def _assign_tasks(self) -> None:
        for worker in list(self._workers):
            if worker.task is not None:
                continue
            needs_fresh_process = bool(self._waiting) and self._waiting[0].alone and worker.has_worked
            if needs_fresh_process or not worker.process.is_alive():  # an idle worker may have been killed
                self._remove_worker(worker)
            elif self._waiting:
                worker.assign_task(self._waiting.popleft())
        while self._waiting and len(self._workers) < self._jobs:
            # Listed before it is started, so that it is stopped whatever interrupts this.
            self._workers.append(_Worker(self._memory_limit, self._inherited))
            self._workers[-1].start()
            self._workers[-1].assign_task(self._waiting.popleft())

    def _collect_outcomes(self) -> list[tuple[Task, TaskOutcome]]:
        busy = {worker.here: worker for worker in self._workers if worker.task is not None}
        soonest = min(worker.since + self._get_allowed_time(worker) - monotonic() for worker in busy.values())
        ready: list[Any] = wait(list(busy), timeout=max(0.0, min(soonest, self._get_time_left(), self._longest_wait)))
        if not ready:  # a process that a worker has forked keeps the connection open even if the worker dies
            ready = [connection for connection, worker in busy.items() if not worker.process.is_alive()]
        outcomes = [outcome for connection in ready for outcome in self._receive_outcome(busy[connection])]
        for worker in [worker for worker in self._workers if worker.task is not None]:
            if monotonic() - worker.since >= self._get_allowed_time(worker):
                outcomes += self._stop_overlong_task(worker)
        return outcomes

    def _receive_outcome(self, worker: _Worker) -> list[tuple[Task, TaskOutcome]]:
        """Receive the outcome of a worker's task; there is none yet if the worker reports on its way."""
        assert worker.task is not None, "only a worker with a task answers"
        task, seconds = worker.task, monotonic() - worker.since
        try:
            if not worker.here.poll():
                raise EOFError
            kind, content = worker.here.recv()
        except (EOFError, OSError):
            self._remove_worker(worker)
            cause = "out of memory" if self._memory_limit is not None else "perhaps out of memory"
            lost = f"the worker process died, {cause}"
            return [(task, TaskOutcome(lost=lost, seconds=seconds, was_loading=worker.is_loading))]
        except Exception as error:  # the object cannot be unpickled here
            self._remove_worker(worker)
            return [(task, TaskOutcome(error=InternalError(describe_error(error)), seconds=seconds))]
        if kind == LOADED:
            worker.is_loading = False
            return []
        if kind == EVENT:
            self._on_event(task, content)
            return []
        worker.task = None
        if kind == "error" and isinstance(content, ResourcesExhausted):
            return [(task, TaskOutcome(lost=str(content), seconds=seconds, was_loading=worker.is_loading))]
        if kind == "error":
            return [(task, TaskOutcome(error=content, seconds=seconds))]
        return [(task, TaskOutcome(value=content, seconds=seconds))]

    def _stop_overlong_task(self, worker: _Worker) -> list[tuple[Task, TaskOutcome]]:
        """Kill the worker of an overlong task; report the task as lost, or queue it again if it was only preempted."""
        assert worker.task is not None, "only a worker with a task is preempted"
        task = worker.task
        self._remove_worker(worker)
        limit = worker.get_time_limit()
        if monotonic() - worker.since >= limit:
            lost = f"stopped after {limit:g} s"
            loading = worker.is_loading
            return [(task, TaskOutcome(lost=lost, seconds=limit, overlong=True, was_loading=loading))]
        self._waiting.append(replace(task, patience=task.patience * _GROWTH))
        return []

    def _get_allowed_time(self, worker: _Worker) -> float:
        assert worker.task is not None, "only a task has a time limit"
        limit = worker.get_time_limit()
        return min(limit, worker.task.patience) if self._waiting else limit

    def _remove_worker(self, worker: _Worker) -> None:
        worker.stop()
        self._workers.remove(worker)

    def _abandon_tasks(self, on_outcome: OutcomeHandler) -> None:
        running = [(worker.task, worker.is_loading) for worker in self._workers if worker.task is not None]
        abandoned = [*running, *((task, task.loading is not None) for task in self._waiting)]
        self.close()
        abandon_tasks(abandoned, on_outcome)


def _serve_tasks(there: Connection, memory_limit: int | None, inherited: Sequence[Any]) -> None:
    prepare_process()
    limit_memory(memory_limit)
    while True:
        try:
            message = there.recv_bytes()
        except EOFError:
            return
        send_outcome(there, partial(run_parts, there, *_Unpickler(BytesIO(message), inherited).load()))
