"""The outcome of a command, from which every output format is made."""

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
    """A claim that is not proved or a file that is not accepted, with its place in a source file."""

    rule: str
    level: Literal["error", "warning"]
    text: str
    file: Path
    line: int
    name: str
    """An identifier that does not change when lines are added above the place."""


@dataclass(frozen=True)
class Outcome:
    """The exit code, the document, the rendering for people, and the runs and findings for other formats."""

    exit_code: int
    document: Document
    render: Callable[[Console], None]
    runs: tuple[ShownRun, ...] = ()
    """The runs that are shown, in order."""
    findings: tuple[Finding, ...] = ()
    asides: tuple[str, ...] = ()
    """Lines for stderr."""
