"""Do a job and show what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from fdverify.cli.job import Job
from fdverify.cli.output import check_time_limit, check_writable, print_out, write_file
from fdverify.cli.progress import ProgressLine
from fdverify.models.expression import parse_expression
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker
from fdverify.traces.steps import shown, shown_names
from fdverify.verdict import Result, Verdict


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
        check_writable(output.itf)
    check_time_limit(time_limit)
    result = _run(job, time_limit)
    trace = None if result.run is None else shown(system, result.run, output.subrounds, show)
    seconds = perf_counter() - start
    if output.itf is not None and trace is not None:
        from fdverify.reports.itf import itf

        write_file(output.itf, itf(system, trace.parameters, trace.rows))
    if output.json:
        from fdverify.reports.document import document

        text = document(job.command, system, job.claim, result, trace, seconds)
    else:
        from fdverify.reports.table import result_text

        text = result_text(system, claim, result, trace, seconds)
    print_out(text)
    return result.verdict.exit_code


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
