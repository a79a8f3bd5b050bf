"""The grid of instances to check: every parameter has a range, and at most two have more than one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fdverify.errors import UsageError

CellPosition = tuple[int, int]
"""A column and a row, both from 0."""


@dataclass(frozen=True)
class Axis:
    name: str
    values: range


@dataclass(frozen=True)
class Grid:
    """The axis ``across``, the axis ``down`` if there is one, and the fixed values of the other parameters."""

    across: Axis
    down: Axis | None
    fixed: Mapping[str, int]

    @property
    def columns(self) -> int:
        return len(self.across.values)

    @property
    def rows(self) -> int:
        return 1 if self.down is None else len(self.down.values)

    def get_parameters(self, place: CellPosition) -> dict[str, int]:
        """Return the parameters of a cell."""
        column, row = place
        values = {self.across.name: self.across.values[column]}
        if self.down is not None:
            values[self.down.name] = self.down.values[row]
        return {**values, **self.fixed}

    def enumerate_positions(self) -> Iterator[CellPosition]:
        return ((column, row) for row in range(self.rows) for column in range(self.columns))


def build_grid(ranges: Mapping[str, range]) -> Grid:
    """Build a grid whose axes are the ranges with more than one value, filled up with the first other parameters."""
    if not ranges:
        raise UsageError("the model has no parameters, so there is nothing to map", "use explore")
    wide = [name for name, values in ranges.items() if len(values) > 1]
    if len(wide) > 2:
        raise UsageError(
            f"a map has two axes, but {', '.join(wide)} are ranges", "give a single number for all but two of them"
        )
    narrow = [name for name in ranges if name not in wide]
    chosen = {*wide, *narrow[: 2 - len(wide)]}
    across, *down = [Axis(name, values) for name, values in ranges.items() if name in chosen]
    fixed = {name: values[0] for name, values in ranges.items() if name not in chosen}
    return Grid(across, down[0] if down else None, fixed)
