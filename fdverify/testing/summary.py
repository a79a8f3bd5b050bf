"""The terminal summary: the number of each verdict, the slowest tests, and how to reproduce every unknown."""

from __future__ import annotations

from collections import Counter

import pytest

from fdverify.errors import nearby
from fdverify.printable import printable
from fdverify.testing.options import KEY, Collects, matches
from fdverify.testing.properties import CACHED, DETAIL, REPRODUCE, VERDICT, noted, with_verdicts

_SLOWEST = 3


def print_summary(terminal: pytest.TerminalReporter) -> None:
    reports = with_verdicts(report for reports in terminal.stats.values() for report in reports)
    if not reports:
        return
    terminal.section("fdverify")
    counts = Counter(verdict for report in reports for verdict in noted(report, VERDICT))
    cached = sum(bool(noted(report, CACHED)) for report in reports)
    totals = ", ".join(f"{verdict} {counts[verdict]}" for verdict in sorted(counts))
    terminal.line(f"{totals}; {cached} of them from the cache" if cached else totals)
    slowest = sorted(reports, key=lambda report: -report.duration)[:_SLOWEST]
    terminal.line("slowest: " + ", ".join(f"{printable(report.nodeid)} {report.duration:.2f} s" for report in slowest))
    for report in sorted(reports, key=lambda report: report.nodeid):
        for detail, command in zip(noted(report, DETAIL), noted(report, REPRODUCE), strict=True):
            terminal.line(f"unknown: {printable(report.nodeid)}: {printable(detail)}")
            terminal.line(f"  {printable(command)}")


def print_without_proof(terminal: pytest.TerminalReporter) -> None:
    """Report the files named on the command line that contain neither tests nor a proof."""
    config = terminal.config
    options = config.stash[KEY]
    named = dict.fromkeys(config.invocation_params.dir / str(word).partition("::")[0] for word in config.args)
    for path in named:
        is_script = path.suffix == ".py" and path.is_file() and not matches(path, options.tests)
        if is_script and options.collects(path, config.rootpath, named=True) is Collects.NO:
            terminal.line(printable(f"fdverify: {nearby(path)}: there is no proof in it"))
