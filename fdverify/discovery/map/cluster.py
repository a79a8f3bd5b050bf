"""Instances checked by the workers of a Dask cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from fdverify.discovery.map.instance import answer
from fdverify.discovery.map.interpreter import in_interpreter
from fdverify.discovery.map.processes import Told
from fdverify.errors import UsageError
from fdverify.job import Job
from fdverify.smt.pool import Outcome
from fdverify.smt.worker import describe

_PATIENCE = 5
"""Seconds to wait for a scheduler, and for its first worker."""


def over_cluster(work: Mapping[int, Job], address: str, time_limit: float | None, told: Told) -> None:
    with _silence(), _connected(address) as client:
        futures = {
            client.submit(in_interpreter, partial(answer, job), time_limit, pure=False): number
            for number, job in work.items()
        }
        for future in _distributed().as_completed(futures):
            told(futures[future], _outcome(future))


def _distributed() -> Any:
    """The library, which is large and optional."""
    try:
        return import_module("distributed")
    except ImportError:
        raise UsageError("--scheduler needs distributed", "pip install 'fdverify[dask]'") from None


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    start = _distributed().Client
    try:
        client = start(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # nobody there, or no address
        raise UsageError(f"cannot reach a Dask scheduler at {address}", "start one: dask scheduler") from error
    try:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise UsageError(
                f"the Dask scheduler at {address} has no workers", f"start one: dask worker {address}"
            ) from error
        yield client
    finally:
        client.close()


def _outcome(future: Any) -> Outcome:
    if future.status == "finished":
        found: Outcome = future.result()
        return found
    if future.status != "error":
        return Outcome(lost="the cluster gave it up")
    error = future.exception()
    if isinstance(error, ImportError):
        raise UsageError(f"a worker of the cluster cannot import fdverify: {' '.join(str(error).split())}")
    return Outcome(lost=f"a worker of the cluster failed: {describe(error)}")


@contextmanager
def _silence() -> Iterator[None]:
    """Neither logs nor warnings of distributed: what matters is told by outcomes."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
