"""Do a job and show what came of it."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from fdverify.cli.job import Job
from fdverify.cli.progress import ProgressLine
from fdverify.errors import UsageError
from fdverify.models.expression import parse_expression
from fdverify.traces.steps import shown, shown_names
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker
from fdverify.verdict import Result, Verdict


class ReaderGone(Exception):
    """Nobody reads stdout any more."""


@dataclass(frozen=True)
class Output:
    """How to show the result."""

    json: bool = False
    itf: Path | None = None
    show: tuple[str, ...] = ()
    subrounds: bool = False


def perform(job: Job, time_limit: float | None, output: Output) -> int:
    """Run the engine in a worker process, print its result, and say with what to exit."""
    start = perf_counter()
    system = job.system()
    claim = system.property(job.claim)
    show = [parse_expression(text, shown_names(system)) for text in output.show]
    if output.itf is not None:
        _check_writable(output.itf)
    if time_limit is not None and not 0 < time_limit < math.inf:
        raise UsageError(f"--time-limit must be a positive number of seconds, got {time_limit:g}")
    result = _run(job, time_limit)
    trace = None if result.run is None else shown(system, result.run, output.subrounds, show)
    seconds = perf_counter() - start
    if output.itf is not None and trace is not None:
        from fdverify.reports.itf import itf

        _write(output.itf, itf(system, trace.parameters, trace.rows))
    if output.json:
        from fdverify.reports.document import document

        text = document(job.command, system, job.claim, result, trace, seconds)
    else:
        from fdverify.reports.table import result_text

        text = result_text(system, claim, result, trace, seconds)
    _print(text)
    return result.verdict.exit_code


def _print(text: str) -> None:
    """Write to stdout, and learn now, not at exit, whether it can be written."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Whatever is left in Python's own buffer must not be tried again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from error
        raise UsageError(f"cannot write to stdout: {error.strerror}") from error


def _run(job: Job, time_limit: float | None) -> Result:
    progress = ProgressLine(job.command)
    try:
        return run_in_worker(job.run, time_limit, progress)
    except (TimeLimitReached, WorkerDied) as end:
        why = f"the time limit of {time_limit:g} s was reached" if isinstance(end, TimeLimitReached) else str(end)
        done = progress.last
        if done is None:
            return Result(Verdict.UNKNOWN, f"{why}; no depth was completed")
        statistics = {"depth": done.depth} | ({} if done.states is None else {"states": done.states})
        return Result(Verdict.UNKNOWN, f"{why}; depth {done.depth} was completed", statistics)
    finally:
        progress.close()


def _check_writable(path: Path) -> None:
    """Refuse before the work what would fail after it."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(f"cannot write {path}")


def _write(path: Path, text: str) -> None:
    """Write all of it or nothing: a reader never sees half a file."""
    try:
        if path.exists() and not path.is_file():
            path.write_text(text)  # a device or a pipe, which cannot be replaced
            return
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "w") as file:
                file.write(text)
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
