"""Tasks on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pydoc import locate
from time import monotonic
from types import TracebackType
from typing import Any
from uuid import uuid4

from fdverify.deadline import choose_earlier_deadline
from fdverify.errors import InternalError, UsageError, describe_error, format_one_line
from fdverify.workers.backends import ClusterAccess
from fdverify.workers.executor import (
    EventHandler,
    OutcomeHandler,
    Task,
    TaskOutcome,
    abandon_tasks,
    ignore_event,
)
from fdverify.workers.fresh_interpreter import TaskAnswer, TaskParcel, run_in_interpreter
from fdverify.workers.software import describe_software

_PATIENCE = 5
"""How many seconds to wait for a scheduler, and for its first worker."""
_WORKERLESS_SECONDS = 30.0
"""How long a cluster may be without workers: one that has died may be replaced."""
_BEAT = 0.1
_SIGN_OF_LIFE = 1.0
_EVENT_SECONDS = 0.5


class DaskCluster:
    """Runs tasks on a Dask cluster, each in a fresh interpreter of the worker that Dask chooses.

    Tasks and their values are pickled.  If a worker dies, Dask runs its tasks again elsewhere, and gives up on a task
    if that happens several times.  What is under way ends with the connection.
    """

    def __init__(self, access: ClusterAccess, memory_limit: int | None = None) -> None:
        self._access = access
        self._memory_limit = memory_limit

    def __enter__(self) -> DaskCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cluster as it is: each run has a connection of its own."""

    def run_tasks(
        self,
        tasks: Iterable[Task],
        on_outcome: OutcomeHandler,
        deadline: float | None = None,
        beat: Callable[[], None] | None = None,
        on_event: EventHandler = ignore_event,
    ) -> None:
        waiting = list(tasks)
        if not waiting:
            return
        with _silence_logging():
            asyncio.run(self._connect_and_run(waiting, on_outcome, choose_earlier_deadline(deadline), beat, on_event))

    async def _connect_and_run(
        self,
        tasks: list[Task],
        on_outcome: OutcomeHandler,
        deadline: float | None,
        beat: Callable[[], None] | None,
        on_event: EventHandler,
    ) -> None:
        client = _build_client(self._access)
        try:
            await _await_workers(client, self._access.address)
            run = _ClusterRun(client, self._memory_limit, on_outcome, on_event)
            await run.run_tasks(tasks, deadline, beat)
        finally:
            await client.close()


class _ClusterRun:
    """One run of tasks on a cluster that is connected."""

    def __init__(
        self, client: Any, memory_limit: int | None, on_outcome: OutcomeHandler, on_event: EventHandler
    ) -> None:
        self._client = client
        self._memory_limit = memory_limit
        self._on_outcome = on_outcome
        self._software = describe_software()
        self._topic = f"fdverify-{uuid4().hex}"
        self._under_way: dict[asyncio.Task[TaskOutcome | UsageError], Task] = {}
        self._by_key: dict[str, Task] = {}
        self._workerless_since: float | None = None

        def receive_event(event: tuple[float, tuple[str, Any]]) -> None:
            key, content = event[1]
            if key in self._by_key:
                on_event(self._by_key[key], content)

        client.subscribe_topic(self._topic, receive_event)

    async def run_tasks(self, tasks: list[Task], deadline: float | None, beat: Callable[[], None] | None) -> None:
        longest_wait = _SIGN_OF_LIFE if beat is None else _BEAT
        self._submit(tasks)
        while self._under_way:
            if beat is not None:
                beat()
            left = longest_wait if deadline is None else deadline - monotonic()
            if left <= 0:
                self._abandon_tasks(reason=None)
            elif not self._has_workers():
                self._abandon_tasks("the cluster has no workers left")
            else:
                await self._handle_outcomes(min(left, longest_wait))

    async def _handle_outcomes(self, timeout: float) -> None:
        done, _ = await asyncio.wait(self._under_way, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            task, outcome = self._under_way.pop(each), each.result()
            if isinstance(outcome, UsageError):
                raise outcome
            self._submit(self._on_outcome(task, outcome))

    def _abandon_tasks(self, reason: str | None) -> None:
        abandoned = list(self._under_way.values())
        for each in self._under_way:
            each.cancel()
        self._under_way.clear()
        abandon_tasks(((task, task.loading is not None) for task in abandoned), self._on_outcome, reason)

    def _submit(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            key = f"{self._topic}-{len(self._by_key)}"
            parcel = TaskParcel.from_task(task, self._memory_limit, self._software)
            future = self._client.submit(run_on_worker, parcel, self._topic, key=key)
            self._by_key[key] = task
            self._under_way[asyncio.ensure_future(_read_outcome(future))] = task

    def _has_workers(self) -> bool:
        """Tell whether there are workers, or were some until recently."""
        if self._client.scheduler_info()["n_workers"]:
            self._workerless_since = None
            return True
        self._workerless_since = self._workerless_since or monotonic()
        return monotonic() - self._workerless_since < _WORKERLESS_SECONDS


def run_on_worker(parcel: TaskParcel, topic: str) -> TaskOutcome:
    """Run a task; this is what a worker of the cluster calls."""
    from distributed import get_worker

    worker = get_worker()
    key = str(worker.get_current_task())
    quiet_until = 0.0

    def send_event(event: Any) -> None:
        nonlocal quiet_until
        if monotonic() >= quiet_until:  # a task may report much more often than anybody looks
            quiet_until = monotonic() + _EVENT_SECONDS
            worker.log_event(topic, (key, event))

    return run_in_interpreter(parcel, partial(_is_wanted, worker, key), send_event)


def _is_wanted(worker: Any, key: str) -> bool:
    """Tell whether a task still has to be run: its client may have cancelled it, or have gone."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state in ("executing", "long-running")


def _build_client(access: ClusterAccess) -> Any:
    distributed = _import_distributed()
    try:
        # Without settings of TLS, those of Dask's own configuration apply.
        files = {f"tls_{role}": str(path.absolute()) for role, path in access.list_tls_files().items()}
        return distributed.Client(
            f"tls://{access.address}" if files and "://" not in access.address else access.address,
            asynchronous=True,
            timeout=_PATIENCE,
            set_as_default=False,
            security=distributed.Security(require_encryption=True, **files) if files else None,
        )
    except Exception as error:  # such as a file that is no certificate
        raise UsageError(f"cannot connect to {access.address}: {format_one_line(error)}", _SECURITY_HINT) from error


_SECURITY_HINT = "a cluster with TLS needs --tls-ca-file, --tls-cert and --tls-key"


def _import_distributed() -> Any:
    """Import the library, which is large and optional."""
    try:
        return import_module("distributed")
    except ImportError:
        raise UsageError("--cluster needs distributed", "pip install 'fdverify[dask]'") from None


async def _await_workers(client: Any, address: str) -> None:
    """Wait for the scheduler and a worker; refuse an address without them."""
    try:
        # A server that is not a scheduler may make the client wait for ever.
        await asyncio.wait_for(client, 2 * _PATIENCE)
    except Exception as error:
        hint = _SECURITY_HINT if address.startswith("tls") else "start one: dask scheduler --host 127.0.0.1"
        raise UsageError(f"cannot reach a Dask scheduler at {address}", hint) from error
    try:
        await client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        hint = f"start one: dask worker {address} --host 127.0.0.1"
        raise UsageError(f"the Dask scheduler at {address} has no workers", hint) from error
    await _refuse_strangers(client)


async def _refuse_strangers(client: Any) -> None:
    """Refuse a scheduler or workers without the function that workers are to call: Dask's workers would die of it."""
    name = f"{run_on_worker.__module__}.{run_on_worker.__name__}"
    try:
        asked = asyncio.gather(
            client.run(locate, name, on_error="return"),
            client.run_on_scheduler(locate, name),
            return_exceptions=True,
        )
        by_workers, by_scheduler = await asyncio.wait_for(asked, 2 * _PATIENCE)
    except TimeoutError as error:
        raise UsageError("a worker of the cluster does not answer", "is it busy, or gone?") from error
    if isinstance(by_workers, BaseException):
        raise UsageError(f"the cluster refuses to work: {format_one_line(by_workers)}") from by_workers
    for place, function in {"scheduler": by_scheduler, **by_workers}.items():
        if function is not run_on_worker:
            who = f"the {place} of the cluster" if place == "scheduler" else f"the worker at {place}"
            raise UsageError(f"{who} has no fdverify, or another one than this", "install the same on all machines")


async def _read_outcome(future: Any) -> TaskOutcome | UsageError:
    """Await the outcome of a task, or an error that says why a worker must not be used."""
    try:
        outcome: TaskOutcome = await future.result()
    except UsageError as error:
        return error  # the worker runs other software
    except Exception as error:
        if future.status == "cancelled":
            return TaskOutcome(lost="the connection to the cluster was lost")
        return TaskOutcome(lost=f"a worker of the cluster failed: {describe_error(error)}")
    return outcome if outcome.value is None else _open_answer(outcome)


def _open_answer(outcome: TaskOutcome) -> TaskOutcome | UsageError:
    """Unpickle the answer of a fresh interpreter; refuse one from other files than those on this machine."""
    try:
        answer: TaskAnswer = pickle.loads(outcome.value)
    except Exception as error:
        return replace(outcome, value=None, error=InternalError(describe_error(error)))
    difference = answer.inputs.find_difference()
    if difference is not None:
        return UsageError(f"on a worker of the cluster, {difference}", "all machines need the same files and variables")
    return replace(outcome, value=answer.value, error=answer.error)


@contextmanager
def _silence_logging() -> Iterator[None]:
    """Suppress the logs and warnings of distributed: the outcomes say what matters."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
