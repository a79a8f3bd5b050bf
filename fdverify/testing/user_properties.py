"""Verdicts as user properties of tests; from every pytest-xdist worker, properties reach the reporting process."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fdverify.testing.plugin_options import OPTIONS_KEY

VERDICT, SOLVER, EFFORT = VERDICT_PROPERTIES = ("verdict", "solver", "effort")
CACHED = "cached"
DETAIL, REPRODUCE = "fdverify_detail", "fdverify_reproduce"


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
