"""The symbols and sentences of a map, for the terminal and for SVG files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from fdverify.reports.step_table import describe_model
from fdverify.sweep.parameter_grid import Axis
from fdverify.sweep.sweep_result import Panel, ParameterMap
from fdverify.verdict import Verdict


class Sign(NamedTuple):
    """The look of a cell.  Symbols differ, and so do colours, also for readers with colour blindness."""

    symbol: str
    meaning: str
    style: str
    fill: str


# The fills are from the palette of Okabe and Ito.
SIGNS: dict[Verdict | None, Sign] = {
    Verdict.PROVED: Sign("●", "proved", "blue", "#56b4e9"),
    Verdict.VIOLATED: Sign("x", "violated", "bold yellow", "#e69f00"),
    Verdict.VACUOUS: Sign("○", "a dead end", "magenta", "#cc79a7"),
    Verdict.UNKNOWN: Sign("?", "unknown", "bold", "#d9d9d9"),
    None: Sign("·", "no instance", "dim", "#ffffff"),
}


def list_signs(parameter_map: ParameterMap) -> list[Sign]:
    """List the signs that occur in the map."""
    return [
        sign for verdict, sign in SIGNS.items() if any(panel.count_cells(verdict) for panel in parameter_map.panels)
    ]


def write_heading(parameter_map: ParameterMap) -> str:
    """Write the model and the options that all panels share."""
    parts = [describe_model(parameter_map.model, _find_common_options(parameter_map))]
    return ", ".join([*parts, *(f"{name} {value}" for name, value in parameter_map.grid.fixed.items())])


def write_title(parameter_map: ParameterMap, panel: Panel) -> str:
    """Write the options in which a panel differs from the others; nothing if it is the only one."""
    common = _find_common_options(parameter_map)
    return ", ".join(f"{name} {value}" for name, value in panel.options.items() if name not in common)


def _find_common_options(parameter_map: ParameterMap) -> Mapping[str, str]:
    first, *others = (panel.options for panel in parameter_map.panels)
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def describe_panel(parameter_map: ParameterMap, panel: Panel) -> str:
    """Describe in a sentence at how many instances of a panel the property holds, and at which."""
    is_mixed = 0 < panel.count_cells(Verdict.PROVED) < len(panel.cells) - panel.count_cells(None)
    return (
        f"{describe_counts(panel)}; holds at {_describe_places(parameter_map, panel)}"
        if is_mixed
        else describe_counts(panel)
    )


def describe_counts(panel: Panel) -> str:
    total = len(panel.cells) - panel.count_cells(None)
    instances = "1 instance" if total == 1 else f"{total} instances"
    others = [verdict for verdict in SIGNS if verdict not in (None, Verdict.PROVED) and panel.count_cells(verdict)]
    if total == 0:
        return "no instances"
    if not others:
        return f"holds at all {instances}"
    if panel.count_cells(others[0]) == total:
        return f"{SIGNS[others[0]].meaning} at all {instances}"
    return (
        f"{', '.join(f'{SIGNS[verdict].meaning} at {panel.count_cells(verdict)}' for verdict in others)} of {instances}"
    )


def describe_shortest_run(parameter_map: ParameterMap, panel: Panel) -> str | None:
    """Describe the violation with the fewest rounds, at the smallest such instance."""
    violated = [cell for cell in panel.cells if cell.verdict is Verdict.VIOLATED and cell.rounds is not None]
    if not violated:
        return None
    first = min(violated, key=lambda cell: cell.rounds or 0)
    where = ", ".join(
        f"{name} {value}" for name, value in first.parameters.items() if name not in parameter_map.grid.fixed
    )
    rounds = "1 round" if first.rounds == 1 else f"{first.rounds} rounds"
    return f"the shortest run to a violation takes {rounds}, at {where}"


def _describe_places(parameter_map: ParameterMap, panel: Panel) -> str:
    """List the instances at which the property holds; group rows with the same columns."""
    grid = parameter_map.grid
    rows = [
        (row, tuple(c for c in range(grid.columns) if panel.by_place[c, row].verdict is Verdict.PROVED))
        for row in range(grid.rows)
    ]
    parts = []
    for columns, group in groupby((row for row in rows if row[1]), key=lambda row: row[1]):
        across = _list_values(grid.across, columns)
        parts.append(across if grid.down is None else f"{_list_values(grid.down, [row for row, _ in group])}: {across}")
    return "; ".join(parts)


def _list_values(axis: Axis, places: Sequence[int]) -> str:
    """List values of a parameter, such as ``delta 0..3, 5``."""
    return f"{axis.name} {', '.join(_group_numbers(axis.values[place] for place in places))}"


def _group_numbers(numbers: Iterable[int]) -> list[str]:
    groups: list[list[int]] = []
    for number in numbers:
        if groups and groups[-1][-1] == number - 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in groups]
