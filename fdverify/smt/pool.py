"""Many pieces of work on a few worker processes, each of which can be killed at any moment."""

from __future__ import annotations

import math
import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from multiprocessing.connection import Connection, wait
from time import monotonic
from types import TracebackType
from typing import Any

from fdverify.deadline import earliest
from fdverify.errors import Exhausted, FdverifyError, InternalError, describe
from fdverify.smt.worker import context, prepare_process, send_answer, start

_LONGEST_WAIT = 3600.0
_PATIENCE = 2.0
_BEAT = 0.1
_GROWTH = 4


@dataclass(frozen=True)
class Task:
    """Work for a worker process: what is called, for what, and at most how long (``None``: as long as there is time).

    Work that takes longer than ``patience`` while other work waits is stopped and begun again later with more of it, so
    that a few hard questions do not keep the easy ones waiting.  Work to be done ``alone`` gets a process that has done
    nothing before: which of several models a solver finds, and how it prints a term, depends on what it did earlier.
    """

    key: Any
    work: Callable[[], Any]
    limit: float | None = None
    patience: float = _PATIENCE
    alone: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of a task: a value, an error of this package, or why there is neither."""

    value: Any = None
    error: FdverifyError | None = None
    lost: str | None = None
    seconds: float = 0.0
    overlong: bool = False
    """Whether it took longer than it was allowed, while there was time."""
    out_of_time: bool = False
    """Whether there was no time left."""


class _Pickler(pickle.Pickler):
    """Writes what the other process has inherited as its place among that."""

    def __init__(self, file: BytesIO, inherited: Sequence[Any]) -> None:
        super().__init__(file)
        self._places = {id(thing): place for place, thing in enumerate(inherited)}

    def persistent_id(self, thing: Any) -> int | None:
        return self._places.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, inherited: Sequence[Any]) -> None:
        super().__init__(file)
        self._inherited = inherited

    def persistent_load(self, place: int) -> Any:
        return self._inherited[place]


class _Worker:
    def __init__(self, memory_limit: int | None, inherited: Sequence[Any]) -> None:
        self.here, self._there = context().Pipe()
        self.process = context().Process(target=_serve, args=(self._there, memory_limit, inherited), daemon=True)
        self._inherited = inherited
        self.task: Task | None = None
        self.since = 0.0
        self.has_worked = False

    def start(self) -> None:
        start(self.process)
        self._there.close()

    def give(self, task: Task) -> None:
        self.task, self.since, self.has_worked = task, monotonic(), True
        text = BytesIO()
        _Pickler(text, self._inherited).dump(task.work)
        with suppress(OSError):  # it has died, which is noticed when it is waited for
            self.here.send_bytes(text.getvalue())

    def stop(self) -> None:
        if self.process.pid is not None:
            self.process.kill()
            self.process.join()
        self.here.close()


class Pool:
    """Runs tasks, which may bring further tasks, until none is left or the time is up.

    Workers stay for the next run until the pool is closed.  What they have ``inherited`` can be part of every task and,
    where processes are forked, need not be a thing that can be sent to another process.
    """

    def __init__(self, jobs: int, memory_limit: int | None = None, inherited: Sequence[Any] = ()) -> None:
        self._jobs = jobs
        self._memory_limit = memory_limit
        self._inherited = inherited
        self._deadline: float | None = None
        self._longest_wait = _LONGEST_WAIT
        self._workers: list[_Worker] = []
        self._waiting: deque[Task] = deque()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop all workers, whatever they are doing."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        self._waiting.clear()

    def run(
        self,
        tasks: Iterable[Task],
        finished: Callable[[Task, Outcome], Iterable[Task]],
        deadline: float | None = None,
        beat: Callable[[], None] | None = None,
    ) -> None:
        """``finished`` is told every outcome and answers with what is to be done next.

        ``beat`` is called often, whatever the workers do, and may raise an exception to give it all up.
        """
        self._deadline = earliest(deadline)
        self._longest_wait = _LONGEST_WAIT if beat is None else _BEAT
        self._waiting.extend(tasks)
        try:
            while self._waiting or any(worker.task for worker in self._workers):
                if beat is not None:
                    beat()
                if self._left() <= 0:
                    self._give_up(finished)
                    return
                self._hand_out()
                for task, outcome in self._collect():
                    self._waiting.extend(finished(task, outcome))
        except BaseException:
            self.close()  # an answer that is still to come must not be taken for that to another question
            raise

    def _left(self) -> float:
        return _LONGEST_WAIT if self._deadline is None else self._deadline - monotonic()

    def _hand_out(self) -> None:
        for worker in list(self._workers):
            if worker.task is not None:
                continue
            wanted_fresh = bool(self._waiting) and self._waiting[0].alone and worker.has_worked
            if wanted_fresh or not worker.process.is_alive():  # or it was killed while it had nothing to do
                self._remove(worker)
            elif self._waiting:
                worker.give(self._waiting.popleft())
        while self._waiting and len(self._workers) < self._jobs:
            # Known before it is started: whatever interrupts this, it will be stopped.
            self._workers.append(_Worker(self._memory_limit, self._inherited))
            self._workers[-1].start()
            self._workers[-1].give(self._waiting.popleft())

    def _collect(self) -> list[tuple[Task, Outcome]]:
        busy = {worker.here: worker for worker in self._workers if worker.task is not None}
        soonest = min(worker.since + self._allowed(worker) - monotonic() for worker in busy.values())
        ready: list[Any] = wait(list(busy), timeout=max(0.0, min(soonest, self._left(), self._longest_wait)))
        found = [self._receive(busy[connection]) for connection in ready]
        for worker in [w for w in self._workers if w.task is not None]:
            if monotonic() - worker.since >= self._allowed(worker):
                found += self._stopped(worker)
        return found

    def _receive(self, worker: _Worker) -> tuple[Task, Outcome]:
        assert worker.task is not None, "only workers that were given a task answer"
        task, seconds = worker.task, monotonic() - worker.since
        try:
            kind, content = worker.here.recv()
        except (EOFError, OSError):
            self._remove(worker)
            why = "out of memory" if self._memory_limit is not None else "perhaps out of memory"
            return task, Outcome(lost=f"the worker process died, {why}", seconds=seconds)
        except Exception as error:  # an object that cannot be read here
            self._remove(worker)
            return task, Outcome(error=InternalError(describe(error)), seconds=seconds)
        worker.task = None
        if kind == "error" and isinstance(content, Exhausted):
            return task, Outcome(lost=str(content), seconds=seconds)
        if kind == "error":
            return task, Outcome(error=content, seconds=seconds)
        return task, Outcome(value=content, seconds=seconds)

    def _stopped(self, worker: _Worker) -> list[tuple[Task, Outcome]]:
        """A task has used up what it was allowed: it is lost, or waits for another turn."""
        assert worker.task is not None, "a worker is stopped because of its task"
        task = worker.task
        self._remove(worker)
        if task.limit is not None and monotonic() - worker.since >= task.limit:
            return [(task, Outcome(lost=f"stopped after {task.limit:g} s", seconds=task.limit, overlong=True))]
        self._waiting.append(replace(task, patience=task.patience * _GROWTH))
        return []

    def _allowed(self, worker: _Worker) -> float:
        assert worker.task is not None, "only a task has limits"
        limit = math.inf if worker.task.limit is None else worker.task.limit
        return min(limit, worker.task.patience) if self._waiting else limit

    def _remove(self, worker: _Worker) -> None:
        worker.stop()
        self._workers.remove(worker)

    def _give_up(self, finished: Callable[[Task, Outcome], Iterable[Task]]) -> None:
        running = [worker.task for worker in self._workers if worker.task is not None]
        left = deque([*running, *self._waiting])
        self.close()
        while left:
            left.extend(finished(left.popleft(), Outcome(lost="the time limit was reached", out_of_time=True)))


def _serve(there: Connection, memory_limit: int | None, inherited: Sequence[Any]) -> None:
    prepare_process()
    if memory_limit is not None and sys.platform == "linux":
        import resource

        size = memory_limit * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    while True:
        try:
            text = there.recv_bytes()
        except EOFError:
            return
        send_answer(there, _Unpickler(BytesIO(text), inherited).load())
