"""Ctrl-C and kill: the command ends at once, and its worker process with it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.processes import heed_interrupts, in_session, living, wait_until, workers
from tests.cli.script import environment
from tests.launch import script
from tests.sampling import every

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

LONG = [
    ("explore", "--delta", "4", "--phi", "200"),
    ("bmc", "--delta", "20", "--phi", "20", "--timeout", "6*phi+delta", "--depth", "1000"),
    ("threshold", "check", str(Path(__file__).parents[2] / "benchmarks" / "ring.ta"), "--driver", "query"),
]
BUSY_SECONDS = 0.7
LONG_ENOUGH = 120.0


@contextmanager
def working(arguments: tuple[str, ...]) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """The command in a session of its own, once its worker has computed for a while; and that worker's id."""
    process = subprocess.Popen(
        [script(), *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    try:
        assert wait_until(lambda: any(c.cpu_seconds > BUSY_SECONDS for c in workers(process.pid)), LONG_ENOUGH)
        (worker,) = workers(process.pid)
        yield process, worker.pid
    finally:
        for left in in_session(process.pid):
            os.kill(left.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("arguments", every(2, LONG), ids=lambda arguments: arguments[0])
def test_interrupt(arguments: tuple[str, ...]) -> None:
    with working(arguments) as (process, _):
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LONG_ENOUGH)
        assert process.returncode == 130
        assert stdout == ""
        assert "Traceback" not in stderr
        assert in_session(process.pid) == []


def test_interrupt_of_the_parent_alone() -> None:
    with working(LONG[1]) as (process, _):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LONG_ENOUGH)
        assert process.returncode == 130
        assert in_session(process.pid) == []


@pytest.mark.parametrize("arguments", every(3, LONG), ids=lambda arguments: arguments[0])
def test_killed_parent_takes_its_worker_along(arguments: tuple[str, ...]) -> None:
    with working(arguments) as (process, worker):
        process.kill()
        process.wait()
        assert wait_until(lambda: worker not in [other.pid for other in living()], 10.0)


def test_killed_worker_is_unknown() -> None:
    with working(LONG[1]) as (process, worker):
        os.kill(worker, signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=LONG_ENOUGH)
        assert process.returncode == 3
        assert stdout.startswith("unknown: the worker process ended with signal 9")
        assert "Traceback" not in stderr
