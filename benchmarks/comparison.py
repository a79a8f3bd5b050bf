"""Rows of the page on performance, and their comparison with the page that was written before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from commands import Cost, format_row

COLUMNS = ("what", "seconds", "CPU", "MB", "target", "found", "published", "slower")
TIMES = ("seconds", "CPU")
"""The columns that are compared."""
BEFORE = ("seconds before", "CPU before")
"""The columns of another checkout, if its commands were measured in turns with ours."""
MOST_TIMES = 1.15
"""A figure that is more than this many times the one before is slower."""
LEAST_SECONDS = 0.02
"""A smaller difference in seconds is not called slower: a start varies by as much."""
_MACHINE = "Machine: "


@dataclass(frozen=True)
class Row:
    """What was measured: times by column, memory in MB; what was given up took ``over`` so many seconds."""

    what: str
    times: Mapping[str, float]
    memory: int | None = None
    target: str = ""
    found: str = ""
    published: str = ""
    over: int = 0
    before: Mapping[str, float] = field(default_factory=dict)
    """The times of the same command in another checkout, measured in turns."""


@dataclass(frozen=True)
class Baseline:
    """The machine and the figures of a page: by column and by what was measured."""

    machine: str
    figures: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Change:
    """A figure before and now; ``scale`` is how much longer everything takes on this machine."""

    what: str
    column: str
    before: float
    now: float
    scale: float

    @property
    def ratio(self) -> float:
        return self.now / (self.before * self.scale)

    @property
    def is_slower(self) -> bool:
        return self.ratio > MOST_TIMES and self.now - self.before * self.scale > LEAST_SECONDS


def build_row(
    what: str, cost: Cost, target: str = "", found: str = "", published: str = "", before: Cost | None = None
) -> Row:
    """Build the row of something that ended."""
    times_before = {} if before is None else _list_times(before)
    return Row(what, _list_times(cost), cost.memory, target, found, published, before=times_before)


def _list_times(cost: Cost) -> dict[str, float]:
    return {"seconds": cost.wall, "CPU": cost.cpu}


def read_baseline(page: str) -> Baseline:
    """Read the figures of a page, whatever other columns its tables have."""
    machines = [line.removeprefix(_MACHINE) for line in page.splitlines() if line.startswith(_MACHINE)]
    figures: dict[str, dict[str, float]] = {column: {} for column in TIMES}
    for row in _read_tables(page):
        for column in TIMES:
            try:
                figures[column][row["what"]] = float(row[column])
            except (KeyError, ValueError):  # another table, or a row that was given up
                continue
    return Baseline(machines[0].partition(".  ")[0].rstrip(".") if machines else "", figures)


def _read_tables(page: str) -> Iterator[dict[str, str]]:
    heads: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|"):
            heads = []
        elif not heads:
            heads = cells
        elif not line.startswith("| ---"):
            yield dict(zip(heads, cells, strict=True))


def compare_rows(rows: Sequence[Row], baseline: Baseline, machine: str) -> list[Change]:
    """Compare what both pages have.

    On another machine everything takes longer or less long.  The median ratio of a column says how much, and what
    deviates from it is found all the same; what became slower as a whole cannot be told from a slower machine.
    """
    changes = []
    for column in TIMES:
        pairs = [
            (row.what, baseline.figures[column][row.what], row.times[column])
            for row in rows
            if column in row.times and baseline.figures[column].get(row.what, 0) > 0
        ]
        is_elsewhere = bool(pairs) and machine != baseline.machine
        scale = median(now / before for _, before, now in pairs) if is_elsewhere else 1.0
        changes += [Change(what, column, before, now, scale) for what, before, now in pairs]
    return changes


def compare_in_turns(rows: Sequence[Row]) -> list[Change]:
    """Compare each row with the same command in another checkout."""
    return [
        Change(row.what, column, row.before[column], row.times[column], 1.0)
        for column in TIMES
        for row in rows
        if column in row.before and column in row.times
    ]


def write_rows(rows: Sequence[Row], changes: Sequence[Change]) -> list[str]:
    """Write the table of all rows, with what became slower in the last column."""
    slower = [change for change in changes if change.is_slower]
    has_before = any(row.before for row in rows)
    columns = [*COLUMNS[:3], *(BEFORE if has_before else ()), *COLUMNS[3:]]
    lines = [format_row(columns), format_row("---" for _ in columns)]
    for row in rows:
        times = [f"{row.times[column]:.2f}" if column in row.times else "" for column in TIMES]
        if row.over:
            times[0] = f"over {row.over}"
        if has_before:
            times += [f"{row.before[column]:.2f}" if column in row.before else "" for column in TIMES]
        memory = "" if row.memory is None else str(row.memory)
        marks = ", ".join(f"{change.column} {change.ratio:.2f} ×" for change in slower if change.what == row.what)
        lines.append(format_row([row.what, *times, memory, row.target, row.found, row.published, marks]))
    return lines


def describe_comparison(changes: Sequence[Change], baseline: Baseline, machine: str) -> list[str]:
    """Describe what ``slower`` is relative to if it is the page before, a sentence a line."""
    if not changes:
        return ["Nothing was compared: the page before has none of these rows."]
    lines = [_describe_marks("on the page before")]
    if machine != baseline.machine:
        scales = {change.column: change.scale for change in changes}
        medians = " and ".join(f"{scale:.2f} ({column})" for column, scale in scales.items())
        lines += [
            f"The page before is of another machine ({baseline.machine or 'not said'}).",
            f"So ratios are relative to the median of all rows, {medians}; what became slower as a whole is not seen.",
        ]
    return lines


def describe_turns(commit: str) -> list[str]:
    """Describe what ``slower`` is relative to if it is another checkout, a sentence a line."""
    return [
        f"The columns with “before” are of commit {commit}: each of its commands was run in turns with ours.",
        _describe_marks("before"),
    ]


def _describe_marks(when: str) -> str:
    return (
        f"A row is marked as slower if it took over {100 * (MOST_TIMES - 1):.0f} % and {LEAST_SECONDS} s longer than "
        f"{when}, by the wall or in CPU time."
    )


def list_slower(changes: Sequence[Change]) -> list[str]:
    """List the figures that became slower, as a table: before, now, ratio."""
    slower = [change for change in changes if change.is_slower]
    if not slower:
        return [f"None of {len(changes)} figures became slower."]
    lines = [format_row(("what", "figure", "before", "now", "ratio")), format_row("---" for _ in range(5))]
    lines += [
        format_row((change.what, change.column, f"{change.before:.2f}", f"{change.now:.2f}", f"{change.ratio:.2f}"))
        for change in slower
    ]
    return [f"{len(slower)} of {len(changes)} figures became slower:", "", *lines]
