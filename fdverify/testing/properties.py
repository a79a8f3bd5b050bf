"""What a test says about its verdicts, for the report: properties, which reach it from every worker of pytest-xdist."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fdverify.testing.options import KEY

VERDICT, SOLVER, EFFORT = OF_EVERY_VERDICT = ("verdict", "solver", "effort")
CACHED = "cached"
DETAIL, REPRODUCE = "fdverify_detail", "fdverify_reproduce"


def note_verdict(item: pytest.Item, verdict: str, solver: str, effort: int, cached: bool = False) -> None:
    item.user_properties += [(VERDICT, str(verdict)), (SOLVER, solver), (EFFORT, effort)]
    if cached:
        item.user_properties.append((CACHED, "yes"))


def note_unknown(item: pytest.Item, detail: str, command: str) -> None:
    """Note why nothing is known and how to see it again; if unknown is not to fail, this ends the test."""
    item.user_properties += [(DETAIL, detail), (REPRODUCE, command)]
    if item.config.stash[KEY].unknown_is_xfail:
        pytest.xfail(f"unknown: {detail}")


def noted(report: pytest.TestReport, name: str) -> list[str]:
    return [str(value) for known, value in report.user_properties if known == name]


def with_verdicts(reports: Iterable[object]) -> list[pytest.TestReport]:
    """The reports of tests that verified something; others may have properties of these names, but not all."""
    tests = [report for report in reports if isinstance(report, pytest.TestReport) and report.when == "call"]
    return [report for report in tests if all(noted(report, name) for name in OF_EVERY_VERDICT)]
