"""A fresh interpreter for one task, which can be killed, for processes that must not fork.

A Dask worker has threads, multiprocessing may forbid it to have children, and it may run several tasks at once, while
solvers and users' modules support only one at a time.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from fdverify.errors import FdverifyError, ResourcesExhausted, UsageError
from fdverify.models.read_recorder import start_recording
from fdverify.workers.executor import Task, TaskOutcome
from fdverify.workers.software import describe_software, find_software_difference
from fdverify.workers.task_inputs import TaskInputs, collect_task_inputs
from fdverify.workers.worker_process import (
    EVENT,
    LOADED,
    convert_error,
    limit_memory,
    prepare_process,
    run_parts,
    send_outcome,
)

_PROGRAM = f"from {__name__} import serve_task; serve_task()"
_READY, _REFUSED = "ready", "refused"
_BEAT = 0.2
_OWN_VARIABLES = "FDVERIFY_"
"""The beginning of the names of this package's own variables, one of which may be the signing key."""


@dataclass(frozen=True)
class TaskParcel:
    """A task that is sent to another machine.  Its parts are pickled by themselves, to be unpickled where it runs."""

    parts: bytes
    limit: float | None
    memory_limit: int | None
    has_loading: bool
    software: Mapping[str, str]
    folder: str
    """The working directory of the process that asks; a worker that has this folder, too, runs the task there."""

    @classmethod
    def from_task(cls, task: Task, memory_limit: int | None, software: Mapping[str, str]) -> TaskParcel:
        parts = pickle.dumps((task.loading, task.work, task.reports))
        return cls(parts, task.limit, memory_limit, task.loading is not None, software, os.getcwd())


@dataclass(frozen=True)
class TaskAnswer:
    """The answer of a fresh interpreter: a value or an error, and what users' code has run and read for it."""

    value: Any
    error: FdverifyError | None
    inputs: TaskInputs


def run_in_interpreter(
    parcel: TaskParcel,
    is_wanted: Callable[[], bool] = lambda: True,
    on_event: Callable[[Any], None] = lambda event: None,
) -> TaskOutcome:
    """Run a task in a fresh interpreter, and return its outcome as a pool of worker processes would.

    Its value is a pickled :class:`TaskAnswer`: the process that asks unpickles it.  The interpreter is killed when the
    task is not wanted any more.
    """
    # However this process was started, assertions are checked, and the signing key is not passed on.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONOPTIMIZE" and not name.startswith(_OWN_VARIABLES)
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM],  # -P: modules in the working directory are not imported
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=parcel.folder if os.path.isdir(parcel.folder) else None,
    )
    assert process.stdin is not None, "the pipe was requested"
    assert process.stdout is not None, "the pipe was requested"
    here = Connection(os.dup(process.stdout.fileno()), writable=False)
    watch = _InterpreterWatch(parcel, process, here, is_wanted, on_event)
    try:
        process.stdin.write(pickle.dumps(parcel))
        process.stdin.flush()
        return watch.await_outcome()
    except (EOFError, OSError):
        lost = "the worker process died, perhaps out of memory"
        return TaskOutcome(lost=lost, seconds=watch.measure_seconds(), was_loading=watch.is_loading)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        _close_quietly(process.stdin)
        here.close()


def _close_quietly(file: Any) -> None:
    """Close a pipe whose reader may have ended before it has read all."""
    try:
        file.close()
    except OSError:
        return


class _InterpreterWatch:
    def __init__(
        self,
        parcel: TaskParcel,
        process: subprocess.Popen[bytes],
        here: Connection,
        is_wanted: Callable[[], bool],
        on_event: Callable[[Any], None],
    ) -> None:
        self._process = process
        self._here = here
        self._is_wanted = is_wanted
        self._on_event = on_event
        self._limit = math.inf  # until the interpreter is ready
        self._wanted_limit = math.inf if parcel.limit is None else parcel.limit
        self._since = monotonic()
        self.is_loading = parcel.has_loading

    def measure_seconds(self) -> float:
        return monotonic() - self._since

    def await_outcome(self) -> TaskOutcome:
        while True:
            left = self._limit - self.measure_seconds()
            if left <= 0:
                lost = f"stopped after {self._limit:g} s"
                return TaskOutcome(lost=lost, seconds=self._limit, overlong=True, was_loading=self.is_loading)
            if not self._is_wanted():
                return TaskOutcome(lost="it was cancelled", seconds=self.measure_seconds())
            if self._here.poll(min(left, _BEAT)):
                outcome = self._receive_message()
                if outcome is not None:
                    return outcome
            elif self._process.poll() is not None:
                raise EOFError  # a process that it has forked keeps the connection open

    def _receive_message(self) -> TaskOutcome | None:
        kind, content = self._here.recv()
        if kind == _REFUSED:
            raise UsageError(*content)
        if kind == "done":
            return TaskOutcome(value=content, seconds=self.measure_seconds())
        if kind == "error" and isinstance(content, ResourcesExhausted):
            return TaskOutcome(lost=str(content), seconds=self.measure_seconds(), was_loading=self.is_loading)
        if kind == "error":
            return TaskOutcome(error=content, seconds=self.measure_seconds())
        if kind == _READY:
            self._limit, self._since = self._wanted_limit, monotonic()
        elif kind == LOADED:
            self._limit, self.is_loading = math.inf, False
        else:
            assert kind == EVENT, "there are no other messages"
            self._on_event(content)
        return None


def serve_task() -> None:
    """Run the task that stdin has, and send its answer to stdout; this is what a fresh interpreter does."""
    there = Connection(os.dup(1), readable=False)
    prepare_process()
    parcel: TaskParcel = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    difference = find_software_difference(describe_software(), parcel.software)
    if difference is not None:
        message = f"a worker of the cluster, on {os.uname().nodename}, runs {difference}"
        there.send((_REFUSED, (message, "install the same on all machines")))
        return
    limit_memory(parcel.memory_limit)
    start_recording()
    there.send((_READY, None))
    send_outcome(there, partial(_answer_task, there, parcel))


def _answer_task(there: Connection, parcel: TaskParcel) -> bytes:
    """Run the task; its value or its error is pickled here, so that only the process that asks unpickles it."""
    value, error = None, None
    try:
        value = run_parts(there, *pickle.loads(parcel.parts))
    except MemoryError:
        raise
    except BaseException as raised:
        error = convert_error(raised)
        if isinstance(error, ResourcesExhausted):
            raise  # the task is lost
    return pickle.dumps(TaskAnswer(value, error, collect_task_inputs()))


def _exit_with_parent() -> None:
    os.read(0, 1)
    os._exit(1)
