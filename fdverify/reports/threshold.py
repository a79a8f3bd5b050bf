"""What came of specifications of threshold automata, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from fdverify.reports.safe_text import Text
from fdverify.reports.table import as_text, cell, print_verdict
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check import Checked
from fdverify.threshold.counterexample import Counterexample

_NAMED = 12


def checks_text(automaton: Automaton, found: Sequence[Checked], kept: dict[str, str]) -> str:
    """``kept`` has the files with what was not decided, by specification."""
    return as_text(lambda console: _print(console, automaton, found, kept))


def _print(console: Console, automaton: Automaton, found: Sequence[Checked], kept: dict[str, str]) -> None:
    for checked in found:
        if checked.counterexample is not None:
            _print_run(console, automaton, checked.counterexample)
        if checked.verdict is None:
            line = Text.assemble(f"{checked.specification}: ", ("refused", "bold red"), f": {checked.detail}")
            console.print(line, soft_wrap=True)
            continue
        print_verdict(
            console, checked.verdict, f"{checked.detail}, {checked.seconds:.1f} s", f"{checked.specification}: "
        )
        if checked.specification in kept:
            console.print(Text(f"  its SMT-LIB text is kept in {kept[checked.specification]}"), soft_wrap=True)


def _print_run(console: Console, automaton: Automaton, run: Counterexample) -> None:
    console.print(Text(", ".join(f"{name} = {value}" for name, value in run.parameters.items())), soft_wrap=True)
    configurations = [run.start, *(after for _, after in run.steps)]
    places = [location.name for location in automaton.locations]
    entered = [place for place in places if any(values[place] for values in configurations)]
    names = [*entered, *automaton.shared]
    table = Table()
    for heading in ("step", "rule", "", "processes", *names):
        table.add_column(Text(heading), justify="left" if heading == "" else "right")
    table.add_row("0", "", "", "", *(str(run.start[name]) for name in names), end_section=run.loop == 0)
    for number, ((step, after), before) in enumerate(zip(run.steps, configurations, strict=False), start=1):
        cells = [cell(console, after[name], changed=after[name] != before[name]) for name in names]
        move = Text(f"{step.rule.source} -> {step.rule.target}")
        table.add_row(
            str(number), str(step.rule.number), move, str(step.processes), *cells, end_section=number == run.loop
        )
    console.print(table)
    empty = [place for place in places if place not in entered]
    if empty:
        console.print(Text(f"locations that stay empty are not shown: {_some(empty)}"), soft_wrap=True)
    console.print(Text(_goes_on(run)), soft_wrap=True)


def _some(names: Sequence[str]) -> str:
    """Names, but of many only the first ones."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _goes_on(run: Counterexample) -> str:
    if run.loop == len(run.steps):
        return "and from then on nothing moves"
    if run.loop + 1 == len(run.steps):
        return f"step {run.loop + 1} is taken again and again, for ever"
    return f"steps {run.loop + 1} to {len(run.steps)} are taken again and again, for ever"
