"""The outcome of ``fdverify map``: the document, and the pictures for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from fdverify.reports.documents import Document
from fdverify.reports.outcome import Outcome
from fdverify.sweep.map_picture import render_map
from fdverify.sweep.sweep_result import Panel, ParameterMap


@dataclass(frozen=True)
class ParameterRange:
    """A parameter and its values from ``first`` to ``last``, both included."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class MapDocument(Document):
    """The result of ``fdverify map``."""

    command: Literal["map"] = "map"
    model: str
    property: str
    parameters: tuple[ParameterRange, ...]
    exit_code: int
    seconds: float
    statistics: Mapping[str, int]
    panels: tuple[Panel, ...]


def report_map(parameter_map: ParameterMap, seconds: float) -> Outcome:
    grid = parameter_map.grid
    axes = [grid.across] if grid.down is None else [grid.across, grid.down]
    document = MapDocument(
        model=parameter_map.model,
        property=parameter_map.claim.name,
        parameters=(
            *(ParameterRange(axis.name, axis.values[0], axis.values[-1]) for axis in axes),
            *(ParameterRange(name, value, value) for name, value in grid.fixed.items()),
        ),
        exit_code=parameter_map.exit_code,
        seconds=seconds,
        statistics={"computed": parameter_map.computed, "stored": parameter_map.stored},
        panels=parameter_map.panels,
    )
    return Outcome(parameter_map.exit_code, document, partial(render_map, parameter_map, seconds))
