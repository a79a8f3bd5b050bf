"""The terminal summary: the number of each verdict, the slowest tests, and how to reproduce every unknown."""

from __future__ import annotations

from collections import Counter

import pytest

from fdverify.errors import shorten_path
from fdverify.printable import make_printable
from fdverify.testing.plugin_options import OPTIONS_KEY, CollectDecision, matches_any_glob
from fdverify.testing.user_properties import (
    CACHED,
    DETAIL,
    REPRODUCE,
    VERDICT,
    read_property,
    select_verdict_reports,
)

_SLOWEST = 3


def print_summary(terminal: pytest.TerminalReporter) -> None:
    reports = select_verdict_reports(report for reports in terminal.stats.values() for report in reports)
    if not reports:
        return
    terminal.section("fdverify")
    counts = Counter(verdict for report in reports for verdict in read_property(report, VERDICT))
    cached = sum(bool(read_property(report, CACHED)) for report in reports)
    totals = ", ".join(f"{verdict} {counts[verdict]}" for verdict in sorted(counts))
    terminal.line(f"{totals}; {cached} of them from the cache" if cached else totals)
    slowest = sorted(reports, key=lambda report: -report.duration)[:_SLOWEST]
    terminal.line(
        "slowest: " + ", ".join(f"{make_printable(report.nodeid)} {report.duration:.2f} s" for report in slowest)
    )
    for report in sorted(reports, key=lambda report: report.nodeid):
        for detail, command in zip(read_property(report, DETAIL), read_property(report, REPRODUCE), strict=True):
            terminal.line(f"unknown: {make_printable(report.nodeid)}: {make_printable(detail)}")
            terminal.line(f"  {make_printable(command)}")


def print_without_proof(terminal: pytest.TerminalReporter) -> None:
    """Report the files named on the command line that contain neither tests nor a proof."""
    config = terminal.config
    options = config.stash[OPTIONS_KEY]
    named = dict.fromkeys(config.invocation_params.dir / str(word).partition("::")[0] for word in config.args)
    for path in named:
        is_script = path.suffix == ".py" and path.is_file() and not matches_any_glob(path, options.tests)
        if is_script and options.decide_collection(path, config.rootpath, named=True) is CollectDecision.NO:
            terminal.line(make_printable(f"fdverify: {shorten_path(path)}: there is no proof in it"))
