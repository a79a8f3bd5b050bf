"""The formats that a command can write files in.  A new one is a module beside this one, and a line here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fdverify.reports.outcome import Outcome


@dataclass(frozen=True)
class FileFormat:
    """A format: what it is made of decides which commands have it.

    The function that writes it returns nothing if the outcome has nothing to write.  It is imported when it is needed:
    ``--help`` needs none of them.
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
        "write a page to look at in a browser, with runs to step through",
        "fdverify.reports.html_page",
        "write_html",
    ),
    FileFormat("itf", "runs", "write the first run in the Informal Trace Format", "fdverify.reports.itf", "write_itf"),
    FileFormat(
        "sarif", "findings", "write what failed, as SARIF for code scanning", "fdverify.reports.sarif", "write_sarif"
    ),
)
