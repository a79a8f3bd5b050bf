"""The choice of an executor: worker processes on this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fdverify.errors import UsageError
from fdverify.workers.executor import Executor

_ADDRESS = re.compile(r"(?:(tcp|tls|ws|wss)://)?([^\s/:@]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}", flags=re.ASCII)


@dataclass(frozen=True)
class ClusterAccess:
    """The address of a Dask scheduler, and the files for TLS: its certificate authority, and who asks."""

    address: str
    ca_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what is no address, and files that are missing or useless."""
        match = _ADDRESS.fullmatch(self.address)
        if match is None:
            raise UsageError(f"--cluster must be an address such as tcp://127.0.0.1:8786, got {self.address!r}")
        files = self.list_tls_files()
        if files and match[1] not in (None, "tls", "wss"):
            raise UsageError(f"{self.address} is an address without TLS", f"tls://{self.address.partition('://')[2]}")
        for path in files.values():
            if not path.is_file():
                raise UsageError(f"no such file: {path}")

    def list_tls_files(self) -> dict[str, Path]:
        """List the files that are given, by what Dask calls them."""
        files = {"ca_file": self.ca_file, "client_cert": self.certificate, "client_key": self.key}
        return {role: path for role, path in files.items() if path is not None}


def count_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class WorkerSettings:
    """The number of worker processes on this machine, or the cluster to use instead."""

    jobs: int = field(default_factory=count_cores)
    cluster: ClusterAccess | None = None


def open_executor(settings: WorkerSettings, memory_limit: int | None = None, inherited: Sequence[Any] = ()) -> Executor:
    """Return the executor that the settings ask for; worker processes here inherit the objects if they are forked."""
    if settings.cluster is None:
        from fdverify.workers.pool import Pool

        return Pool(settings.jobs, memory_limit, inherited)
    from fdverify.workers.dask_cluster import DaskCluster

    return DaskCluster(settings.cluster, memory_limit)
