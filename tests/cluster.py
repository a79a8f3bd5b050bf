"""Dask clusters on the loopback interface: a scheduler and workers, each a process, and certificates for TLS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fdverify.workers.backends import ClusterAccess
from tests.cli.processes import children, living, wait_until

LONG_ENOUGH = 300.0
ROOT = Path(__file__).parents[1]
LOOPBACK = "127.0.0.1"


@dataclass
class Cluster:
    """A cluster that runs: its address, and the processes of its scheduler and of its workers."""

    folder: Path
    address: str
    scheduler: subprocess.Popen[bytes]
    tls: Mapping[str, str] = field(default_factory=dict)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def access(self) -> ClusterAccess:
        return ClusterAccess(self.address)

    def add_worker(self, env: Mapping[str, str] | None = None, *more: str) -> subprocess.Popen[bytes]:
        """Start a worker without a nanny, which would replace it when it is killed; tasks may import the tests."""
        name = f"worker-{len(self.workers)}"
        variables = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(self.folder / "cache"), **(env or {})}
        variables["XDG_STATE_HOME"] = str(self.folder / "state")
        where = ("--no-nanny", "--nthreads", "1", "--host", LOOPBACK, "--local-directory", str(self.folder))
        worker = start_dask(self.folder, name, variables, "worker", self.address, *where, *self.tls_options, *more)
        self.workers.append(worker)
        return worker

    @property
    def tls_options(self) -> list[str]:
        return [word for flag, file in self.tls.items() for word in (flag, file)]

    def list_interpreters(self) -> set[int]:
        """List the processes in which workers run tasks."""
        return {process for worker in self.workers for process in list_children(worker)}

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def list_children(worker: subprocess.Popen[bytes]) -> set[int]:
    return {process.pid for process in children(worker.pid)}


def start_dask(folder: Path, name: str, env: Mapping[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    variables = {**os.environ, **env}
    with (folder / f"{name}.log").open("wb") as log:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        return subprocess.Popen(command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


@contextmanager
def running_cluster(
    folder: Path,
    workers: int = 2,
    env: Mapping[str, str] | None = None,
    tls: Mapping[str, str] | None = None,
    scheduler_env: Mapping[str, str] | None = None,
) -> Iterator[Cluster]:
    """Run a cluster whose files are in the folder; it is killed at the end."""
    place = folder / "scheduler.json"
    options = [word for flag, file in (tls or {}).items() for word in (flag, file)]
    protocol = ["--protocol", "tls"] if tls else []
    scheduler = start_dask(
        folder,
        "scheduler",
        scheduler_env or {},
        *("scheduler", "--scheduler-file", str(place), "--host", LOOPBACK, "--port", "0"),
        *(*protocol, *options),
    )
    cluster = Cluster(folder, "", scheduler, tls or {})
    try:
        assert wait_until(lambda: place.exists() and "address" in place.read_text(), LONG_ENOUGH)
        cluster.address = json.loads(place.read_text())["address"]
        for _ in range(workers):
            cluster.add_worker(env)
        for number in range(workers):
            log = folder / f"worker-{number}.log"
            assert wait_until(lambda log=log: "Registered to" in log.read_text(), LONG_ENOUGH)  # type: ignore[misc]
        yield cluster
    finally:
        cluster.end()


def has_ended(process: int) -> bool:
    return all(each.pid != process for each in living())


def drop_times(value: Any) -> Any:
    """Drop from a document how long things took, which is never the same."""
    if isinstance(value, dict):
        return {name: drop_times(part) for name, part in value.items() if name != "seconds"}
    return [drop_times(part) for part in value] if isinstance(value, list) else value


def make_certificate(folder: Path, name: str) -> dict[str, str]:
    """Make a certificate that signs itself, and is its own authority; return Dask's options for it."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    request = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}")
    subprocess.run([*request, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return {"--tls-ca-file": str(certificate), "--tls-cert": str(certificate), "--tls-key": str(key)}
