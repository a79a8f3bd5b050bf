"""The terminal summary of verdicts, which tests record as user properties.

It has the number of each verdict, the slowest tests, and how to reproduce every unknown.  User properties reach the
reporting process from every pytest-xdist worker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from fdverify.errors import shorten_path
from fdverify.printable import make_printable
from fdverify.testing.plugin_options import OPTIONS_KEY, CollectDecision, matches_any_glob

VERDICT, SOLVER, EFFORT = VERDICT_PROPERTIES = ("verdict", "solver", "effort")
CACHED = "cached"
DETAIL, REPRODUCE = "fdverify_detail", "fdverify_reproduce"
_SLOWEST = 3


def note_verdict(item: pytest.Item, verdict: str, solver: str, effort: int, cached: bool = False) -> None:
    item.user_properties += [(VERDICT, str(verdict)), (SOLVER, solver), (EFFORT, effort)]
    if cached:
        item.user_properties.append((CACHED, "yes"))


def note_unknown(item: pytest.Item, detail: str, command: str) -> None:
    """Record why a verdict is unknown and how to reproduce it; if unknown is xfail, end the test here."""
    item.user_properties += [(DETAIL, detail), (REPRODUCE, command)]
    if item.config.stash[OPTIONS_KEY].unknown_is_xfail:
        pytest.xfail(f"unknown: {detail}")


def read_property(report: pytest.TestReport, name: str) -> list[str]:
    return [str(value) for key, value in report.user_properties if key == name]


def select_verdict_reports(reports: Iterable[object]) -> list[pytest.TestReport]:
    """Select the reports of tests with verdicts; other tests may have some properties of these names, but not all."""
    tests = [report for report in reports if isinstance(report, pytest.TestReport) and report.when == "call"]
    return [report for report in tests if all(read_property(report, name) for name in VERDICT_PROPERTIES)]


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
