"""What came of specifications of threshold automata, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fdverify import __version__
from fdverify.reports.table import as_text, print_verdict
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check import Checked, Counterexample


def checks_text(automaton: Automaton, found: Sequence[Checked]) -> str:
    return as_text(lambda console: _print(console, automaton, found))


def _print(console: Console, automaton: Automaton, found: Sequence[Checked]) -> None:
    for checked in found:
        if checked.counterexample is not None:
            _print_run(console, automaton, checked.counterexample)
        print_verdict(
            console, checked.verdict, f"{checked.detail}, {checked.seconds:.1f} s", f"{checked.specification}: "
        )


def _print_run(console: Console, automaton: Automaton, run: Counterexample) -> None:
    console.print(Text(", ".join(f"{name} = {value}" for name, value in run.parameters.items())), soft_wrap=True)
    names = [*(location.name for location in automaton.locations), *automaton.shared]
    table = Table()
    for name in ("rule", "processes", *names):
        table.add_column(Text(name), justify="right")
    before = run.start
    table.add_row("", "", *(str(before[name]) for name in names))
    for step, after in run.steps:
        cells = [Text(f"{after[name]}*" if after[name] != before[name] else str(after[name])) for name in names]
        table.add_row(str(step.rule.number), str(step.processes), *cells)
        before = after
    console.print(table)
    console.print(Text("and from then on nothing moves"), soft_wrap=True)


def checks_document(automaton: Automaton, found: Sequence[Checked], exit_code: int) -> str:
    document = {
        "tool": "fdverify",
        "version": __version__,
        "command": "threshold check",
        "automaton": automaton.name,
        "exit_code": exit_code,
        "specifications": [_entry(checked) for checked in found],
    }
    return json.dumps(document, indent=2) + "\n"


def _entry(checked: Checked) -> dict[str, Any]:
    run = checked.counterexample
    return {
        "name": checked.specification,
        "verdict": str(checked.verdict),
        "detail": checked.detail,
        "seconds": round(checked.seconds, 3),
        "counterexample": None
        if run is None
        else {
            "parameters": run.parameters,
            "start": run.start,
            "steps": [
                {"rule": step.rule.number, "processes": step.processes, "after": after} for step, after in run.steps
            ],
        },
    }
