"""Results for people: the verdict in a line, a run as a step table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from fdverify.models.system import Property, System
from fdverify.reports.safe_text import Text, stacked
from fdverify.traces.steps import Row, Shown
from fdverify.verdict import Result, Verdict

_STYLES = {
    Verdict.PROVED: "bold green",
    Verdict.BOUNDED: "green",
    Verdict.PARTIAL: "green",
    Verdict.UNKNOWN: "bold yellow",
}
_CHANGED = "bold yellow"
_WIDEST = 1000


def as_text(show: Callable[[Console], None], for_terminal: bool | None = None) -> str:
    """What is shown, in colour on a terminal that has it, else with stars; as stdout should have it unless told."""
    # NO_COLOR asks for no styles at all, bold included, so that what has changed is starred.
    text = StringIO()
    terminal = sys.stdout.isatty() if for_terminal is None else for_terminal
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    # Nothing in a text is markup or the name of a picture: names may look like either.
    console = Console(
        file=text, force_terminal=terminal, highlight=False, color_system=colours, markup=False, emoji=False
    )
    # A file or a pipe has no width of its own: give tables what they need instead of breaking their columns.
    if not console.is_terminal:
        console.width = _WIDEST
    show(console)
    return text.getvalue()


def result_text(system: System, claim: Property, result: Result, trace: Shown | None, seconds: float) -> str:
    return as_text(lambda console: print_result(console, system, claim, result, trace, seconds))


def print_result(
    console: Console, system: System, claim: Property, result: Result, trace: Shown | None, seconds: float
) -> None:
    if trace is not None:
        print_steps(console, trace)
    print_verdict(console, result.verdict, result.detail)
    console.print(Text(f"{claim.name}: {claim.meaning}"), soft_wrap=True)
    for note in result.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    facts = [f"{name} {value}" for name, value in result.statistics.items()]
    about = described(system.name, system.options)
    console.print(Text(", ".join([about, *facts, f"{seconds:.1f} s"]), style="dim"), soft_wrap=True)


def print_verdict(console: Console, verdict: Verdict, detail: str, prefix: str = "") -> None:
    line = Text(prefix)
    line.append(str(verdict), style=_STYLES.get(verdict, "bold red"))
    line.append(f": {detail}")
    console.print(line, soft_wrap=True)


def described(model: str, options: Mapping[str, str]) -> str:
    return ", ".join([model, *(f"{name} {value}" for name, value in options.items())])


def print_steps(console: Console, trace: Shown) -> None:
    """A run as a table: a row for each state, with the choices that led to it."""
    parameters = ", ".join(f"{name} = {value}" for name, value in trace.parameters.items())
    console.print(Text(parameters), soft_wrap=True)
    rows = trace.rows
    table = Table()
    table.add_column("round", justify="right")
    table.add_column("choices", overflow="fold")
    for name in rows[0].state:
        table.add_column(stacked(name.split("_")), justify="right", overflow="fold")
    for name in rows[0].shown:
        table.add_column(Text(name), justify="right", overflow="fold")
    before: list[Any] | None = None
    previous = 0
    for row in rows:
        if trace.loop is not None and row.round > trace.loop >= previous:
            table.add_section()
        previous = row.round
        cells = [*row.state.values(), *row.shown.values()]
        number = str(row.round) if row.phase is None else f"{row.round} {row.phase}"
        pairs = zip(before or cells, cells, strict=True)
        texts = [cell(console, new, changed=old != new) for old, new in pairs]
        table.add_row(Text(number), Text(chosen(row.choices)), *texts)
        before = cells
    console.print(table)
    if trace.loop is not None:
        console.print(Text(_loop_in_words(trace.loop, rows)), soft_wrap=True)


def _loop_in_words(loop: int, rows: Sequence[Row]) -> str:
    """Where the run goes on for ever; what nothing depends on any more, such as a clock, may differ."""
    first, last = [row for row in rows if row.round == loop][-1], rows[-1]
    length = last.round - loop
    differ = [name for name, value in first.state.items() if last.state[name] != value]
    way = f"round {last.round} leads" if length == 1 else f"rounds {loop + 1} to {last.round} lead"
    return f"{way} back to the state after round {loop}" + (f", but for {', '.join(differ)}" if differ else "")


def cell(console: Console, value: Any, changed: bool) -> Text:
    """A value, marked if it has changed."""
    text = plain(value)
    if not changed:
        return Text(text)
    return Text(text if console.color_system else f"{text}*", style=_CHANGED)


def chosen(choices: dict[str, Any]) -> str:
    """The choices that were not simply no: flags by name, sets with their ages."""
    words = [name if value is True else f"{name} {plain(value)}" for name, value in choices.items() if value]
    return ", ".join(words)


def plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, frozenset):
        return "{" + ", ".join(str(age) for age in sorted(value)) + "}"
    return str(value)
