"""The frontier of a property: the borders between cells where it is proved and cells where it is violated."""

from __future__ import annotations

from dataclasses import dataclass

from fdverify.sweep.parameter_grid import CellPosition
from fdverify.sweep.sweep_result import Panel
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class Frontier:
    """The cells that have a border to the next column, and those that have one to the next row."""

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
