"""The options of commands that fan out: how many worker processes to use, or which cluster."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fdverify.cli.options import build_option
from fdverify.errors import UsageError
from fdverify.workers.backends import ClusterAccess, WorkerSettings

_TLS = {
    "tls_ca_file": ("--tls-ca-file", "the certificate authority of a cluster with TLS"),
    "tls_cert": ("--tls-cert", "the certificate to show to a cluster with TLS"),
    "tls_key": ("--tls-key", "the private key of that certificate"),
}


def list_worker_options() -> list[inspect.Parameter]:
    """List the options; ``--scheduler`` is the former name of ``--cluster``."""
    jobs_help = "the number of worker processes; one per core by default"
    cluster_help = "use the Dask cluster whose scheduler is at this address instead"
    return [
        build_option("jobs", int | None, None, "--jobs", "-j", metavar="N", min=1, help=jobs_help),
        build_option("cluster", str | None, None, "--cluster", "--scheduler", metavar="ADDRESS", help=cluster_help),
        *(
            build_option(name, Path | None, None, flag, metavar="FILE", help=meaning)
            for name, (flag, meaning) in _TLS.items()
        ),
    ]


def read_worker_settings(given: Mapping[str, Any]) -> WorkerSettings:
    """Read the values of the options."""
    files = [given[name] for name in _TLS]
    if given["cluster"] is None:
        for name, (flag, _) in _TLS.items():
            if given[name] is not None:
                raise UsageError(f"{flag} is for a cluster", "give its address: --cluster ADDRESS")
        return WorkerSettings() if given["jobs"] is None else WorkerSettings(given["jobs"])
    if given["jobs"] is not None:
        raise UsageError("--jobs is for worker processes and --cluster for a cluster", "give one of them")
    return WorkerSettings(cluster=ClusterAccess(given["cluster"], *files))
