"""A map for the terminal: a symbol per cell, and a line along the frontier of the property."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from fdverify.reports.safe_text import Text
from fdverify.sweep.map_words import (
    SIGNS,
    describe_panel,
    describe_shortest_run,
    list_signs,
    write_heading,
    write_title,
)
from fdverify.sweep.parameter_grid import CellPosition, Grid
from fdverify.sweep.sweep_result import Frontier, Panel, ParameterMap, find_frontier

_CORNERS = " ╵╷│╶└┌├╴┘┐┤─┴┬┼"
"""Indexed by the sum of the lines that meet: 1 from above, 2 from below, 4 to the right, 8 to the left."""


def render_map(parameter_map: ParameterMap, seconds: float, console: Console) -> None:
    def print_line(text: str | Text, style: str = "") -> None:
        console.print(Text(text, style=style) if isinstance(text, str) else text, soft_wrap=True)

    print_line(f"{parameter_map.claim.name}: {parameter_map.claim.meaning}")
    print_line(write_heading(parameter_map), style="dim")
    for panel in parameter_map.panels:
        print_line("")
        name = write_title(parameter_map, panel)
        if name:
            print_line(name, style="bold")
        for line in _draw_panel(parameter_map.grid, panel):
            print_line(line)
        print_line("")
        print_line(f"{name}: {describe_panel(parameter_map, panel)}" if name else describe_panel(parameter_map, panel))
        run = describe_shortest_run(parameter_map, panel)
        if run is not None:
            print_line(run)
    print_line("")
    print_line(_build_legend(parameter_map))
    print_line(f"{parameter_map.computed} computed, {parameter_map.stored} from before, {seconds:.1f} s", style="dim")


def _build_legend(parameter_map: ParameterMap) -> Text:
    line = Text()
    for sign in list_signs(parameter_map):
        line.append(sign.symbol, style=sign.style)
        line.append(f" {sign.meaning}   ")
    if any(find_frontier(panel) for panel in parameter_map.panels):
        line.append("│ frontier")
    line.rstrip()
    return line


def _draw_panel(grid: Grid, panel: Panel) -> Iterator[Text]:
    """Draw a panel with the largest values at the top, as in a plot; each column is as wide as its number."""
    border = find_frontier(panel)
    width = max(len(str(value)) for value in grid.across.values)
    rows = [""] if grid.down is None else [str(value) for value in grid.down.values]
    name = "" if grid.down is None else grid.down.name
    margin = max(len(name), *(len(row) for row in rows)) + 1
    if name:
        yield Text(name.rjust(margin))
    for row in reversed(range(grid.rows)):
        line = Text(f"{rows[row]:>{margin}} ")
        for column in range(grid.columns):
            sign = SIGNS[panel.by_place[column, row].verdict]
            line.append(sign.symbol.rjust(width), style=sign.style)
            line.append("│" if (column, row) in border.columns else " ")
        line.rstrip()
        yield line
        between = _draw_border(grid, border, row - 1, width)
        if between.strip():
            yield Text(f"{' ' * margin} {between}".rstrip())
    numbers = " ".join(f"{value:>{width}}" for value in grid.across.values)
    yield Text(f"{' ' * margin} {numbers} {grid.across.name}")


def _draw_border(grid: Grid, border: Frontier, row: int, width: int) -> str:
    """Draw the frontier between a row and the one above it; nothing if it has no horizontal part there."""
    if not any((column, row) in border.rows for column in range(grid.columns)):
        return ""

    def choose_corner(at: CellPosition) -> str:
        column, low = at
        lines = (
            (column, low + 1) in border.columns,
            at in border.columns,
            (column + 1, low) in border.rows,
            at in border.rows,
        )
        return _CORNERS[sum(weight for weight, line in zip((1, 2, 4, 8), lines, strict=True) if line)]

    cells = ("─" * width if (column, row) in border.rows else " " * width for column in range(grid.columns))
    return "".join(cell + choose_corner((column, row)) for column, cell in enumerate(cells))
