"""Run a console script in a session of its own, and see that nothing is left of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.cli.processes import heed_interrupts, in_session, wait_until
from tests.cli.script import Outcome, environment, odd_lines
from tests.launch import script

LONG_ENOUGH = 120.0


@contextmanager
def begun(command: Sequence[str], folder: Path, **more: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that runs; what is left of it is killed in the end."""
    name, *arguments = command
    process = subprocess.Popen(
        [script(name), *arguments],
        cwd=folder,
        env=environment(XDG_CACHE_HOME=str(folder / "cache"), **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    try:
        yield process
    finally:
        for left in in_session(process.pid):
            os.kill(left.pid, signal.SIGKILL)
        process.communicate()


def ended(process: "subprocess.Popen[str]") -> Outcome:
    """How it ends, with nothing left of it; progress, which only a slow machine shows, is left out."""
    stdout, stderr = process.communicate(timeout=LONG_ENOUGH)
    if sys.platform == "linux":
        assert wait_until(lambda: in_session(process.pid) == [], 10.0)
    assert "Traceback" not in stdout + stderr
    return Outcome(process.returncode, stdout, "".join(f"{line}\n" for line in odd_lines(stderr)))


def outcome_of(command: Sequence[str], folder: Path, more: Mapping[str, str] | None = None) -> Outcome:
    with begun(command, folder, **(more or {})) as process:
        return ended(process)
