"""A fresh interpreter for one task, which can be killed, for processes that must not fork.

A Dask worker has threads, multiprocessing may forbid it to have children, and it may run several tasks at once, while
solvers and users' modules support only one at a time.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from fdverify.cache.signing import KEY_VARIABLE
from fdverify.workers.pool import TaskOutcome
from fdverify.workers.worker_process import prepare_process, send_outcome


def run_in_interpreter(work: Callable[[], Any], time_limit: float | None) -> TaskOutcome:
    """Run a task in a fresh interpreter, and return its outcome as a pool of worker processes would."""
    # However the Dask worker was started, assertions are checked, and the signing key is not passed on.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONOPTIMIZE", KEY_VARIABLE)}
    process = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert process.stdin is not None, "the pipe was requested"
    assert process.stdout is not None, "the pipe was requested"
    here = Connection(os.dup(process.stdout.fileno()), writable=False)
    try:
        process.stdin.write(pickle.dumps(work))
        process.stdin.flush()
        if not here.poll(time_limit):
            return TaskOutcome(lost=f"stopped after {time_limit:g} s")
        kind, content = here.recv()
    except (EOFError, OSError):
        return TaskOutcome(lost="the worker process died, perhaps out of memory")
    finally:
        process.kill()
        process.communicate()
        here.close()
    return TaskOutcome(error=content) if kind == "error" else TaskOutcome(value=content)


def _main() -> None:
    there = Connection(os.dup(1), readable=False)
    prepare_process()
    work = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    send_outcome(there, work)


def _exit_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    _main()
