"""Checks of instances by the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from fdverify.errors import UsageError, describe_error
from fdverify.model_check.check_request import CheckRequest
from fdverify.sweep.cell_check import OutcomeHandler, check_cell
from fdverify.sweep.fresh_interpreter import run_in_interpreter
from fdverify.workers.pool import TaskOutcome

_ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?([^\s/:@]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}", flags=re.ASCII)
_PATIENCE = 5
"""How many seconds to wait for a scheduler, and for its first worker."""


def check_on_cluster(
    requests: Mapping[int, CheckRequest], address: str, time_limit: float | None, handle: OutcomeHandler
) -> None:
    if not _ADDRESS.fullmatch(address):
        raise UsageError(f"--scheduler must be an address such as tcp://127.0.0.1:8786, got {address!r}")
    with _silence_logging():
        asyncio.run(_submit_to_cluster(requests, address, time_limit, handle))


async def _submit_to_cluster(
    requests: Mapping[int, CheckRequest], address: str, time_limit: float | None, handle: OutcomeHandler
) -> None:
    distributed = _import_distributed()
    client = distributed.Client(address, asynchronous=True, timeout=_PATIENCE, set_as_default=False)
    try:
        await _connect(client, address)
        futures = {
            client.submit(run_in_interpreter, partial(check_cell, request), time_limit, pure=False): number
            for number, request in requests.items()
        }
        async for future in distributed.as_completed(futures, loop=client.loop):
            handle(futures[future], await _read_outcome(future))
    finally:
        await client.close()


def _import_distributed() -> Any:
    """Import the library, which is large and optional."""
    try:
        return import_module("distributed")
    except ImportError:
        raise UsageError("--scheduler needs distributed", "pip install 'fdverify[dask]'") from None


async def _connect(client: Any, address: str) -> None:
    """Wait for the scheduler and a worker; refuse an address without them."""
    try:
        # A server that is not a scheduler may make the client wait for ever.
        await asyncio.wait_for(client, 2 * _PATIENCE)
    except Exception as error:
        raise UsageError(
            f"cannot reach a Dask scheduler at {address}", "start one: dask scheduler --host 127.0.0.1"
        ) from error
    try:
        await client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        hint = f"start one: dask worker {address} --host 127.0.0.1"
        raise UsageError(f"the Dask scheduler at {address} has no workers", hint) from error


async def _read_outcome(future: Any) -> TaskOutcome:
    if future.status == "finished":
        outcome: TaskOutcome = await future.result()
        return outcome
    if future.status != "error":
        return TaskOutcome(lost="the cluster gave up on it")
    error = await future.exception()
    if isinstance(error, ImportError):
        raise UsageError(f"a worker of the cluster cannot import fdverify: {' '.join(str(error).split())}")
    return TaskOutcome(lost=f"a worker of the cluster failed: {describe_error(error)}")


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
