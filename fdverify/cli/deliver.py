"""The delivery of an outcome: the files that the options ask for, the answer on stdout, and the exit code.

A switch for all commands is declared in :class:`Outputs` and used in :func:`deliver`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdverify.cli.exit_codes import print_line
from fdverify.cli.output import print_answer, write_file

if TYPE_CHECKING:
    from fdverify.reports.formats import FileFormat
    from fdverify.reports.outcome import Outcome


def declare_switch(*flags: str, help: str) -> Any:
    """Declare a field of ``Outputs`` that is a switch of every command."""
    return field(default=False, metadata={"flags": flags, "help": help})


@dataclass(frozen=True)
class Outputs:
    """The outputs that the options ask for; every field that is declared as a switch is an option of every command."""

    files: Mapping[FileFormat, Path] = field(default_factory=dict)
    json: bool = declare_switch("--json", help="print one JSON document")
    quiet: bool = declare_switch("--quiet", "-q", help="print only errors, and the JSON document if --json is given")

    def list_flags(self) -> list[str]:
        """List the options that ask for more than text on stdout."""
        return [*(["--json"] if self.json else []), *(each.flag for each in self.files)]


def deliver(outcome: Outcome, outputs: Outputs) -> int:
    """Write the outputs and return the exit code."""
    from fdverify.reports.documents import write_document
    from fdverify.reports.step_table import render_text

    for line in outcome.asides:
        print_line(line)
    for file_format, path in outputs.files.items():
        text = file_format.write(outcome)
        if text is not None:
            write_file(path, text)
    if outputs.json:
        print_answer(write_document(outcome.document))
    elif not outputs.quiet:
        print_answer(render_text(outcome.render))
    return outcome.exit_code
