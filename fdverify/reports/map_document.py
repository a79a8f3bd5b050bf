"""A map for machines: JSON, as the schema that ships beside this file describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import msgspec

from fdverify import __version__
from fdverify.discovery.map.result import Cell, Map, Panel
from fdverify.reports.document import formatted_schema
from fdverify.verdict import Verdict

SCHEMA = Path(__file__).with_name("map_schema.json")


class RangeEntry(msgspec.Struct):
    """A parameter: the values from ``first`` to ``last``, both included."""

    name: str
    first: int
    last: int


class CellEntry(msgspec.Struct):
    """An instance; one without a verdict is none.  ``rounds`` is the length of a shortest run, which was replayed."""

    parameters: dict[str, int]
    verdict: Verdict | None
    detail: str
    rounds: int | None


class PanelEntry(msgspec.Struct):
    """One picture."""

    options: dict[str, str]
    counts: dict[str, int]
    cells: list[CellEntry]


class MapDocument(msgspec.Struct):
    """What `fdverify map` found."""

    tool: Literal["fdverify"]
    version: str
    command: Literal["map"]
    model: str
    property: str
    parameters: list[RangeEntry]
    exit_code: int
    seconds: float
    statistics: dict[str, int]
    panels: list[PanelEntry]


def map_document(found: Map, seconds: float) -> str:
    grid = found.grid
    axes = [grid.across] if grid.down is None else [grid.across, grid.down]
    document = MapDocument(
        tool="fdverify",
        version=__version__,
        command="map",
        model=found.model,
        property=found.claim.name,
        parameters=[
            *(RangeEntry(axis.name, axis.values[0], axis.values[-1]) for axis in axes),
            *(RangeEntry(name, value, value) for name, value in grid.fixed.items()),
        ],
        exit_code=found.exit_code,
        seconds=round(seconds, 3),
        statistics={"computed": found.computed, "stored": found.stored},
        panels=[_panel(panel) for panel in found.panels],
    )
    return json.dumps(msgspec.to_builtins(document), indent=2) + "\n"


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(MapDocument)


def _panel(panel: Panel) -> PanelEntry:
    verdicts = (Verdict.PROVED, Verdict.VIOLATED, Verdict.VACUOUS, Verdict.UNKNOWN)
    counts = {str(verdict): panel.count(verdict) for verdict in verdicts} | {"no-instance": panel.count(None)}
    return PanelEntry(dict(panel.options), counts, [_cell(cell) for cell in panel.cells.values()])


def _cell(cell: Cell) -> CellEntry:
    return CellEntry(dict(cell.parameters), cell.verdict, cell.detail, cell.rounds)
