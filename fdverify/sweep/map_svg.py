"""A map as a self-contained SVG file, with all panels."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as escape_markup

from fdverify.printable import make_printable
from fdverify.sweep.map_words import SIGNS, describe_counts, list_signs, write_heading, write_title
from fdverify.sweep.parameter_grid import Axis, CellPosition, Grid
from fdverify.sweep.sweep_result import Cell, Panel, ParameterMap, find_frontier
from fdverify.verdict import Verdict

_CELL = 22
_LETTER = 7.2
"""The largest width of a letter."""
_LINE = 20
_MARGIN = 24
_LEFT = 56
"""The room for the numbers and the name of the axis beside a panel."""
_BELOW = 44
_LETTERS = 'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12" fill="#000000"'

_FRONTIER = "frontier"
_THICK = 'stroke="#000000" stroke-width="3" stroke-linecap="square" fill="none"'


def draw_map(parameter_map: ParameterMap) -> str:
    panels = list(_draw_panels(parameter_map))
    lines = [f"{parameter_map.claim.name}: {parameter_map.claim.meaning}", write_heading(parameter_map)]
    sentences = [line for panel in parameter_map.panels for line in _write_caption(parameter_map, panel)]
    width = max(
        _MARGIN * 2 + _LEFT + parameter_map.grid.columns * _CELL,
        *(_MARGIN * 2 + _LETTER * len(line) for line in [*lines, *sentences]),
        _MARGIN * 2
        + sum(
            _compute_legend_width(meaning)
            for meaning in [*(sign.meaning for sign in list_signs(parameter_map)), _FRONTIER]
        ),
    )
    top = _MARGIN + _LINE * len(lines)
    body = [*_draw_text_lines(lines, _MARGIN, _MARGIN + 12)]
    for drawn, height in panels:
        body += [f'<g transform="translate({_MARGIN} {top})">', *drawn, "</g>"]
        top += height
    body += [f'<g transform="translate({_MARGIN} {top + _LINE // 2})">', *_draw_legend(parameter_map), "</g>"]
    height = top + _LINE * 2 + _MARGIN // 2
    size = f'width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {_LETTERS}>',
            f"<title>{escape_text(lines[0])}</title>",
            f'<rect width="{width:.0f}" height="{height}" fill="#ffffff"/>',
            *body,
            "</svg>",
            "",
        ]
    )


def _draw_panels(parameter_map: ParameterMap) -> Iterator[tuple[list[str], int]]:
    """Draw each panel from its own corner, and return its height, too."""
    for panel in parameter_map.panels:
        above = _write_caption(parameter_map, panel)
        top = _LINE * (len(above) + 1)
        grid = parameter_map.grid
        drawn = [
            *_draw_text_lines(above, 0, _LINE + 6),
            f'<g transform="translate({_LEFT} {top})">',
            *(_draw_cell(grid, place, cell) for place, cell in panel.by_place.items()),
            *_draw_axes(grid),
            _draw_frontier(grid, panel),
            "</g>",
        ]
        yield drawn, top + grid.rows * _CELL + _BELOW


def _write_caption(parameter_map: ParameterMap, panel: Panel) -> list[str]:
    return [line for line in (write_title(parameter_map, panel), describe_counts(panel)) if line]


def _draw_text_lines(lines: list[str], x: int, y: int) -> Iterator[str]:
    for number, line in enumerate(lines):
        weight = ' font-weight="bold"' if number == 0 else ""
        yield f'<text x="{x}" y="{y + number * _LINE}"{weight}>{escape_text(line)}</text>'


def escape_text(text: str) -> str:
    """Escape text for XML, which cannot represent most control characters."""
    return escape_markup(make_printable(text))


def _find_corner(grid: Grid, place: CellPosition) -> tuple[int, int]:
    """Return the upper left corner of a cell; the first row is at the bottom."""
    column, row = place
    return column * _CELL, (grid.rows - 1 - row) * _CELL


def _draw_cell(grid: Grid, place: CellPosition, cell: Cell) -> str:
    x, y = _find_corner(grid, place)
    where = ", ".join(f"{name} {value}" for name, value in cell.parameters.items())
    square = f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{SIGNS[cell.verdict].fill}"'
    tooltip = f"<title>{escape_text(f'{where}: {cell.detail}')}</title>"
    return f'<g>{tooltip}{square} stroke="#ffffff"/>{_draw_mark(cell.verdict, x + _CELL / 2, y + _CELL / 2)}</g>'


def _draw_mark(verdict: Verdict | None, x: float, y: float) -> str:
    """Draw the symbol of a verdict as a shape, which does not depend on fonts."""
    match verdict:
        case Verdict.PROVED:
            return f'<circle cx="{x:g}" cy="{y:g}" r="4.5" fill="#000000"/>'
        case Verdict.VIOLATED:
            cross = f"M{x - 4:g} {y - 4:g}l8 8m0 -8l-8 8"
            return f'<path d="{cross}" stroke="#000000" stroke-width="2" fill="none"/>'
        case Verdict.VACUOUS:
            return f'<circle cx="{x:g}" cy="{y:g}" r="4.5" stroke="#000000" stroke-width="1.5" fill="none"/>'
        case None:
            return f'<circle cx="{x:g}" cy="{y:g}" r="1.5" fill="#000000"/>'
        case _:
            return f'<text x="{x:g}" y="{y + 4:g}" text-anchor="middle">?</text>'


def _draw_axes(grid: Grid) -> Iterator[str]:
    width, height = grid.columns * _CELL, grid.rows * _CELL
    yield f'<rect width="{width}" height="{height}" fill="none" stroke="#000000"/>'
    for place in range(0, grid.columns, _compute_label_step(grid.across)):
        x = place * _CELL + _CELL / 2
        yield f'<text x="{x:g}" y="{height + 16}" text-anchor="middle">{grid.across.values[place]}</text>'
    yield f'<text x="{width / 2:g}" y="{height + 34}" text-anchor="middle">{escape_text(grid.across.name)}</text>'
    if grid.down is None:
        return
    for place, value in enumerate(grid.down.values):
        y = _find_corner(grid, (0, place))[1] + _CELL / 2 + 4
        yield f'<text x="-6" y="{y:g}" text-anchor="end">{value}</text>'
    turned = f'transform="translate({12 - _LEFT} {height / 2:g}) rotate(-90)"'
    yield f'<text {turned} text-anchor="middle">{escape_text(grid.down.name)}</text>'


def _compute_label_step(axis: Axis) -> int:
    """Compute the step between the numbers below the columns, so that they fit: 1 for all, 2 for every second, …"""
    return int(max(len(str(value)) for value in axis.values) * _LETTER // _CELL) + 1


def _draw_frontier(grid: Grid, panel: Panel) -> str:
    border = find_frontier(panel)
    upright = [_find_corner(grid, (column + 1, row)) for column, row in sorted(border.columns)]
    level = [_find_corner(grid, place) for place in sorted(border.rows)]
    lines = [f"M{x} {y}v{_CELL}" for x, y in upright] + [f"M{x} {y}h{_CELL}" for x, y in level]
    return f'<path class="frontier" d="{"".join(lines)}" {_THICK}/>'


def _draw_legend(parameter_map: ParameterMap) -> Iterator[str]:
    x = 0.0
    verdicts = {sign: verdict for verdict, sign in SIGNS.items()}
    for sign in list_signs(parameter_map):
        yield f'<rect x="{x:g}" width="{_CELL}" height="{_CELL}" fill="{sign.fill}" stroke="#999999"/>'
        yield _draw_mark(verdicts[sign], x + _CELL / 2, _CELL / 2)
        yield f'<text x="{x + _CELL + 6:g}" y="{_CELL / 2 + 4:g}">{escape_text(sign.meaning)}</text>'
        x += _compute_legend_width(sign.meaning)
    if any(find_frontier(panel) for panel in parameter_map.panels):
        yield f'<path d="M{x:g} {_CELL / 2:g}h{_CELL}" {_THICK}/>'
        yield f'<text x="{x + _CELL + 6:g}" y="{_CELL / 2 + 4:g}">{_FRONTIER}</text>'


def _compute_legend_width(meaning: str) -> float:
    return _CELL + 24 + _LETTER * len(meaning)
