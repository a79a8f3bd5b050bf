"""Published tables beside ours, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from rich.console import Console
from rich.table import Table

from fdverify import __version__
from fdverify.reports.document import formatted_schema
from fdverify.reports.safe_text import Text
from fdverify.reports.table import as_text
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.tables import AlgorithmRow, ComparedRow
from fdverify.verdict import Verdict

SCHEMA = Path(__file__).with_name("threshold_table_schema.json")


def tables_text(compared: Sequence[ComparedRow], algorithms: Sequence[AlgorithmRow]) -> str:
    return as_text(lambda console: _print(console, compared, algorithms))


def _print(console: Console, compared: Sequence[ComparedRow], algorithms: Sequence[AlgorithmRow]) -> None:
    table = Table(*("algorithm", "parameters", "specification", "published", "Spin s", "ours", "s"))
    for row in compared:
        known = row.published
        ours = Text(row.verdict, style="" if row.agrees else "bold red")
        cells = (known.algorithm, known.parameters, known.specification, known.verdict, known.seconds)
        table.add_row(*map(Text, cells), ours, f"{row.seconds:.2f}")
    console.print(table)
    agree = sum(row.agrees for row in compared)
    seconds = sum(row.seconds for row in compared)
    console.print(
        Text(f"{agree} of {len(compared)} rows agree or were not answered before, {seconds:.1f} s"), soft_wrap=True
    )
    sizes = Table(*("file", "locations", "rules", "guards", "specification", "verdict", "s"))
    for entry in algorithms:
        numbers = map(str, _sizes(entry.automaton).values())
        checked = entry.checked
        words = Text(checked.specification), Text(checked.word)
        sizes.add_row(Text(entry.file), *numbers, *words, f"{checked.seconds:.2f}")
    console.print(sizes)


def _sizes(automaton: Automaton) -> dict[str, int]:
    return {
        "locations": len(automaton.locations),
        "rules": len(automaton.rules),
        "guards": len({rule.guard for rule in automaton.rules}),
    }


class PublishedEntry(msgspec.Struct):
    """A row of a published table, and what is found here."""

    algorithm: str
    parameters: str
    specification: str
    published: str
    spin_seconds: str
    verdict: str
    seconds: float
    agrees: bool


class AlgorithmEntry(msgspec.Struct):
    """A specification of an automaton, for all parameters; one without a verdict is refused."""

    file: str
    locations: int
    rules: int
    guards: int
    specification: str
    verdict: Verdict | None
    seconds: float


class TablesDocument(msgspec.Struct):
    """What `fdverify threshold table` found."""

    tool: Literal["fdverify"]
    version: str
    command: Literal["threshold table"]
    exit_code: int
    published: list[PublishedEntry]
    algorithms: list[AlgorithmEntry]


def tables_document(compared: Sequence[ComparedRow], algorithms: Sequence[AlgorithmRow], exit_code: int) -> str:
    document = TablesDocument(
        tool="fdverify",
        version=__version__,
        command="threshold table",
        exit_code=exit_code,
        published=[
            PublishedEntry(
                algorithm=row.published.algorithm,
                parameters=row.published.parameters,
                specification=row.published.specification,
                published=row.published.verdict,
                spin_seconds=row.published.seconds,
                verdict=row.verdict,
                seconds=round(row.seconds, 3),
                agrees=row.agrees,
            )
            for row in compared
        ],
        algorithms=[
            AlgorithmEntry(
                file=entry.file,
                **_sizes(entry.automaton),
                specification=entry.checked.specification,
                verdict=entry.checked.verdict,
                seconds=round(entry.checked.seconds, 3),
            )
            for entry in algorithms
        ],
    )
    return json.dumps(msgspec.to_builtins(document), indent=2) + "\n"


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(TablesDocument)
