"""The outcome of ``fdverify threshold table``: the document, and the tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from rich.console import Console
from rich.table import Table

from fdverify.reports.documents import Document
from fdverify.reports.outcome import Outcome
from fdverify.reports.safe_text import Text
from fdverify.threshold.published_tables import AlgorithmRow, ComparedRow
from fdverify.verdict import choose_exit_code


@dataclass(frozen=True, kw_only=True)
class TablesDocument(Document):
    """The result of ``fdverify threshold table``."""

    command: Literal["threshold table"] = "threshold table"
    exit_code: int
    published: tuple[ComparedRow, ...]
    algorithms: tuple[AlgorithmRow, ...]


def report_tables(compared: Sequence[ComparedRow], algorithms: Sequence[AlgorithmRow]) -> Outcome:
    exit_code = choose_exit_code(
        {*(entry.checked.exit_code for entry in algorithms), *(row.exit_code for row in compared)}
    )
    document = TablesDocument(exit_code=exit_code, published=tuple(compared), algorithms=tuple(algorithms))
    return Outcome(exit_code, document, partial(_render_tables, document))


def _render_tables(document: TablesDocument, console: Console) -> None:
    table = Table(*("algorithm", "parameters", "specification", "published", "Spin s", "ours", "s"))
    for row in document.published:
        ours = Text(row.verdict, style="" if row.agrees else "bold red")
        cells = (row.algorithm, row.parameters, row.specification, row.published, row.spin_seconds)
        table.add_row(*map(Text, cells), ours, f"{row.seconds:.2f}")
    console.print(table)
    agree = sum(row.agrees for row in document.published)
    seconds = sum(row.seconds for row in document.published)
    rows = f"{agree} of {len(document.published)} rows"
    console.print(Text(f"{rows} agree or were not answered before, {seconds:.1f} s"), soft_wrap=True)
    sizes = Table(*("file", "locations", "rules", "guards", "specification", "verdict", "s"))
    for entry in document.algorithms:
        numbers = (str(entry.locations), str(entry.rules), str(entry.guards))
        words = Text(entry.specification), Text(entry.checked.word)
        sizes.add_row(Text(entry.file), *numbers, *words, f"{entry.seconds:.2f}")
    console.print(sizes)
