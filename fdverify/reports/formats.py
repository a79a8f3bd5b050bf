"""The file formats of commands.  A new format is a module beside this one, and an entry here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fdverify.reports.outcome import Outcome


@dataclass(frozen=True)
class FileFormat:
    """A file format.  The part of the outcome that it is made of decides which commands have it.

    Its function returns ``None`` if the outcome has nothing to write.  The function is imported only when it is needed,
    because ``--help`` needs none of them.
    """

    name: str
    made_of: Literal["document", "runs", "findings"]
    help: str
    module: str
    function: str

    @property
    def flag(self) -> str:
        return f"--{self.name}"

    def write(self, outcome: Outcome) -> str | None:
        text: str | None = getattr(import_module(self.module), self.function)(outcome)
        return text


FORMATS = (
    FileFormat(
        "html",
        "document",
        "write an HTML page in which runs can be stepped through",
        "fdverify.reports.html_page",
        "write_html",
    ),
    FileFormat("itf", "runs", "write the first run in the Informal Trace Format", "fdverify.reports.itf", "write_itf"),
    FileFormat(
        "mermaid",
        "runs",
        "write the first run as a Mermaid sequence diagram",
        "fdverify.reports.mermaid",
        "write_mermaid",
    ),
    FileFormat(
        "sarif", "findings", "write the failures as SARIF, for code scanning", "fdverify.reports.sarif", "write_sarif"
    ),
)
