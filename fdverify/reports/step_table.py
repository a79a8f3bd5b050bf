"""Parts of text reports: the line of a verdict, and a run as a step table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from fdverify.reports.safe_text import Text, stack_words
from fdverify.runs.run_table import ShownRun, ShownStep, ShownValue
from fdverify.verdict import Verdict

_STYLES = {
    Verdict.PROVED: "bold green",
    Verdict.BOUNDED: "green",
    Verdict.PARTIAL: "green",
    Verdict.UNKNOWN: "bold yellow",
}
_CHANGED = "bold yellow"
_WIDEST = 1000


def render_text(render: Callable[[Console], None], for_terminal: bool | None = None) -> str:
    """Render for stdout, unless ``for_terminal`` says otherwise.  Changes are coloured, or starred without colours."""
    # NO_COLOR asks for no styles at all, not even bold, so changes are starred.
    text = StringIO()
    terminal = sys.stdout.isatty() if for_terminal is None else for_terminal
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    # Names may look like markup or emoji codes, so neither is interpreted.
    console = Console(
        file=text, force_terminal=terminal, highlight=False, color_system=colours, markup=False, emoji=False
    )
    # A file or a pipe has no width, so tables get as much as they need.
    if not console.is_terminal:
        console.width = _WIDEST
    render(console)
    return text.getvalue()


def render_html(render: Callable[[Console], None]) -> str:
    """Render for a notebook: the text of a terminal, with its colours."""
    console = Console(
        file=StringIO(), record=True, width=_WIDEST, force_terminal=True, highlight=False, markup=False, emoji=False
    )
    render(console)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def print_verdict(console: Console, verdict: Verdict, detail: str, prefix: str = "") -> None:
    line = Text(prefix)
    line.append(str(verdict), style=_STYLES.get(verdict, "bold red"))
    line.append(f": {detail}")
    console.print(line, soft_wrap=True)


def describe_model(model: str, options: Mapping[str, str]) -> str:
    return ", ".join([model, *(f"{name} {value}" for name, value in options.items())])


def print_steps(console: Console, run: ShownRun) -> None:
    """Print a run as a table: a row for each state, with the choices that led to it."""
    parameters = ", ".join(f"{name} = {value}" for name, value in run.parameters.items())
    console.print(Text(parameters), soft_wrap=True)
    steps = run.steps
    table = Table()
    table.add_column("round", justify="right")
    table.add_column("choices", overflow="fold")
    for name in steps[0].state:
        table.add_column(stack_words(name.split("_")), justify="right", overflow="fold")
    for name in steps[0].show:
        table.add_column(Text(name), justify="right", overflow="fold")
    before: list[Any] | None = None
    previous = 0
    for step in steps:
        if run.loop is not None and step.round > run.loop >= previous:
            table.add_section()
        previous = step.round
        cells = [*step.state.values(), *step.show.values()]
        number = str(step.round) if step.phase is None else f"{step.round} {step.phase}"
        pairs = zip(before or cells, cells, strict=True)
        texts = [render_cell(console, new, changed=old != new) for old, new in pairs]
        table.add_row(Text(number), Text(list_choices(step.choices)), *texts)
        before = cells
    console.print(table)
    if run.loop is not None:
        console.print(Text(_describe_loop(run.loop, steps)), soft_wrap=True)


def _describe_loop(loop: int, steps: Sequence[ShownStep]) -> str:
    """Describe the loop of a lasso.  Variables that no longer matter, such as a clock, may differ after it."""
    first, last = [step for step in steps if step.round == loop][-1], steps[-1]
    length = last.round - loop
    differ = [name for name, value in first.state.items() if last.state[name] != value]
    way = f"round {last.round} leads" if length == 1 else f"rounds {loop + 1} to {last.round} lead"
    return f"{way} back to the state after round {loop}" + (f", but for {', '.join(differ)}" if differ else "")


def render_cell(console: Console, value: Any, changed: bool) -> Text:
    """Render a value; mark it if it has changed."""
    text = render_value(value)
    if not changed:
        return Text(text)
    return Text(text if console.color_system else f"{text}*", style=_CHANGED)


def list_choices(choices: Mapping[str, ShownValue]) -> str:
    """List the choices that are not false or empty: flags by name, numbers, sets with their ages."""
    return ", ".join(render_choice(name, value) for name, value in choices.items() if is_made(value))


def is_made(choice: ShownValue) -> bool:
    return choice is not False and choice != ()


def render_choice(name: str, value: ShownValue) -> str:
    return name if value is True else f"{name} {render_value(value)}"


def render_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "{" + ", ".join(str(age) for age in value) + "}"
    return str(value)
