"""What a command comes to: the one thing that every command computes and that every output format is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fdverify.reports.documents import Document
from fdverify.runs.run_table import ShownRun

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Finding:
    """A claim that is not proved, or a file that is not accepted, at a place in a source file."""

    rule: str
    level: Literal["error", "warning"]
    text: str
    file: Path
    line: int
    name: str
    """What stays the same when lines are added above it."""


@dataclass(frozen=True)
class Outcome:
    """The exit code, the document, and the rendering for people; the runs and the findings that formats are made of."""

    exit_code: int
    document: Document
    render: Callable[[Console], None]
    runs: tuple[ShownRun, ...] = ()
    """The runs that are shown, in the order in which they are shown."""
    findings: tuple[Finding, ...] = ()
    asides: tuple[str, ...] = ()
    """Lines for stderr."""
