"""Do a job and show what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from fdverify.cli.output import check_reports, check_time_limit, print_out, write_file, write_page
from fdverify.cli.progress import ProgressLine
from fdverify.job import Job
from fdverify.models.expression import parse_expression
from fdverify.traces.steps import shown, shown_names


@dataclass(frozen=True)
class Output:
    """How to show the result."""

    json: bool = False
    html: Path | None = None
    itf: Path | None = None
    show: tuple[str, ...] = ()
    subrounds: bool = False


def perform(job: Job, time_limit: float | None, output: Output) -> int:
    """Run the engine in a worker process, print its result, and say with what to exit."""
    start = perf_counter()
    system = job.system()
    claim = job.property_of(system)
    show = [parse_expression(text, shown_names(system)) for text in output.show]
    check_reports({"--html": output.html, "--itf": output.itf})
    check_time_limit(time_limit)
    progress = ProgressLine(job.command)
    try:
        result = job.result(time_limit, progress)
    finally:
        progress.close()
    trace = None if result.run is None else shown(system, result.run, output.subrounds, show)
    seconds = perf_counter() - start
    if output.itf is not None and trace is not None:
        from fdverify.reports.itf import itf

        write_file(output.itf, itf(system, trace))
    found = ""
    if output.json or output.html is not None:
        from fdverify.reports.document import document

        found = document(job.command, system, claim, result, trace, seconds)
    if output.html is not None:
        write_page(output.html, found)
    if not output.json:
        from fdverify.reports.table import result_text

        found = result_text(system, claim, result, trace, seconds)
    print_out(found)
    return result.verdict.exit_code
