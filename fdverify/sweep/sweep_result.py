"""The result of a sweep: a verdict for every instance of the grid, and the frontier between proved and violated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fdverify.models.system import Property
from fdverify.sweep.parameter_grid import CellPosition, Grid
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class Cell:
    """The result of one instance; without a verdict, the parameters are not an instance, and ``detail`` says why."""

    parameters: Mapping[str, int]
    verdict: Verdict | None
    detail: str
    rounds: int | None = None


@dataclass(frozen=True)
class Panel:
    """One picture: the options as the system describes them, and a cell for every position."""

    options: Mapping[str, str]
    by_place: Mapping[CellPosition, Cell]

    WRITTEN = ("options", "counts", "cells")

    def count_cells(self, verdict: Verdict | None) -> int:
        return sum(cell.verdict == verdict for cell in self.by_place.values())

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of cells with each verdict."""
        verdicts = (Verdict.PROVED, Verdict.VIOLATED, Verdict.VACUOUS, Verdict.UNKNOWN)
        return {
            **{str(verdict): self.count_cells(verdict) for verdict in verdicts},
            "no-instance": self.count_cells(None),
        }

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(self.by_place.values())


@dataclass(frozen=True)
class ParameterMap:
    """A map with its panels; ``computed`` instances were checked now, ``stored`` ones earlier."""

    model: str
    claim: Property
    grid: Grid
    panels: tuple[Panel, ...]
    computed: int
    stored: int

    @property
    def exit_code(self) -> int:
        """The exit code: a violation is a valid answer, but a dead end or an unknown instance is not."""
        verdicts = {cell.verdict for panel in self.panels for cell in panel.cells}
        return next((v.exit_code for v in (Verdict.VACUOUS, Verdict.UNKNOWN) if v in verdicts), 0)


@dataclass(frozen=True)
class Frontier:
    """The borders between proved and violated cells: those to the next column, and those to the next row."""

    columns: frozenset[CellPosition]
    rows: frozenset[CellPosition]

    def __bool__(self) -> bool:
        return bool(self.columns or self.rows)


def find_frontier(panel: Panel) -> Frontier:
    def is_border(place: CellPosition, neighbour: CellPosition) -> bool:
        if neighbour not in panel.by_place:
            return False
        return {panel.by_place[place].verdict, panel.by_place[neighbour].verdict} == {Verdict.PROVED, Verdict.VIOLATED}

    return Frontier(
        frozenset((c, r) for c, r in panel.by_place if is_border((c, r), (c + 1, r))),
        frozenset((c, r) for c, r in panel.by_place if is_border((c, r), (c, r + 1))),
    )
