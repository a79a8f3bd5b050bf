"""The outcomes of ``fdverify threshold``: documents, tables for people and findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from fdverify.reports.documents import Document
from fdverify.reports.outcome import Finding, Outcome
from fdverify.reports.safe_text import Text
from fdverify.reports.step_table import print_verdict, render_cell, render_text
from fdverify.runs.run_table import ShownRun, ShownStep
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check_specification import SpecificationResult
from fdverify.threshold.counterexample_replay import Counterexample
from fdverify.threshold.published_tables import AlgorithmRow, ComparedRow
from fdverify.threshold.text.write import format_formula
from fdverify.verdict import Verdict, choose_exit_code

_NAMED = 12


@dataclass(frozen=True, kw_only=True)
class ThresholdDocument(Document):
    """The results of ``fdverify threshold check``; a specification without a verdict is refused."""

    command: Literal["threshold check"] = "threshold check"
    file: Path
    model: str
    assumptions: tuple[str, ...]
    parameters: Mapping[str, int | str]
    driver: str
    second_opinion: str | None
    exit_code: int
    seconds: float
    statistics: Mapping[str, int]
    locations: tuple[str, ...]
    shared: tuple[str, ...]
    specifications: tuple[SpecificationResult, ...]


def report_specifications(
    file: Path,
    automaton: Automaton,
    checks: Sequence[SpecificationResult],
    *,
    fixed: Mapping[str, int],
    driver: str,
    second_opinion: str | None,
) -> Outcome:
    document = ThresholdDocument(
        file=file,
        model=automaton.name,
        assumptions=tuple(format_formula(claim) for claim in automaton.assumptions),
        parameters={name: fixed.get(name, "any") for name in (*automaton.parameters, *automaton.unknowns)},
        driver=driver,
        second_opinion=second_opinion,
        exit_code=choose_exit_code({checked.exit_code for checked in checks}),
        seconds=sum(checked.seconds for checked in checks),
        statistics=measure_size(automaton),
        locations=tuple(location.name for location in automaton.locations),
        shared=tuple(automaton.shared),
        specifications=tuple(checks),
    )
    return Outcome(
        exit_code=document.exit_code,
        document=document,
        render=partial(_render_checks, automaton, checks),
        runs=tuple(_show_run(automaton, checked.trace) for checked in checks if checked.trace is not None),
        findings=tuple(_list_findings(file, automaton, checks)),
    )


def measure_size(automaton: Automaton) -> dict[str, int]:
    return {
        "locations": len(automaton.locations),
        "rules": len(automaton.rules),
        "guards": len({rule.guard for rule in automaton.rules}),
    }


def _show_run(automaton: Automaton, example: Counterexample) -> ShownRun:
    """Convert a run for the output formats; a state gives the number of processes in each location."""
    steps = [
        ShownStep(0, None, {}, dict(example.start)),
        *(
            ShownStep(number, None, {"rule": step.rule, "processes": step.processes}, dict(step.after))
            for number, step in enumerate(example.steps, start=1)
        ),
    ]
    return ShownRun(example.parameters, tuple(steps), example.loop, model=automaton.name)


def _list_findings(file: Path, automaton: Automaton, checks: Sequence[SpecificationResult]) -> Iterator[Finding]:
    for checked in checks:
        if checked.exit_code != 0:
            text = render_text(partial(_render_checks, automaton, [checked]), for_terminal=False)
            level: Literal["error", "warning"] = "warning" if checked.verdict is Verdict.UNKNOWN else "error"
            line = _find_line(file, checked.name)
            yield Finding("specification", level, text, file.resolve(), line, f"{automaton.name}:{checked.name}")


def _find_line(file: Path, specification: str) -> int:
    """Find the line that begins with the name of a specification; the first line if none does."""
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, start=1) if re.match(rf"\s*{specification}\s*:", line)), 1)


def _render_checks(automaton: Automaton, checks: Sequence[SpecificationResult], console: Console) -> None:
    for checked in checks:
        if checked.trace is not None:
            _print_run(console, automaton, checked.trace)
        if checked.verdict is None:
            line = Text.assemble(f"{checked.name}: ", ("refused", "bold red"), f": {checked.detail}")
            console.print(line, soft_wrap=True)
            continue
        print_verdict(console, checked.verdict, f"{checked.detail}, {checked.seconds:.1f} s", f"{checked.name}: ")
        if checked.smtlib is not None:
            console.print(Text(f"  its SMT-LIB text is kept in {checked.smtlib}"), soft_wrap=True)


def _print_run(console: Console, automaton: Automaton, run: Counterexample) -> None:
    console.print(Text(", ".join(f"{name} = {value}" for name, value in run.parameters.items())), soft_wrap=True)
    configurations = [run.start, *(step.after for step in run.steps)]
    places = [location.name for location in automaton.locations]
    entered = [place for place in places if any(values[place] for values in configurations)]
    names = [*entered, *automaton.shared]
    table = Table()
    for heading in ("step", "rule", "", "processes", *names):
        table.add_column(Text(heading), justify="left" if heading == "" else "right")
    table.add_row("0", "", "", "", *(str(run.start[name]) for name in names), end_section=run.loop == 0)
    for number, (step, before) in enumerate(zip(run.steps, configurations, strict=False), start=1):
        cells = [render_cell(console, step.after[name], changed=step.after[name] != before[name]) for name in names]
        move = Text(f"{step.source} -> {step.target}")
        table.add_row(str(number), str(step.rule), move, str(step.processes), *cells, end_section=number == run.loop)
    console.print(table)
    empty = [place for place in places if place not in entered]
    if empty:
        console.print(Text(f"locations that stay empty are not shown: {_list_first(empty)}"), soft_wrap=True)
    console.print(Text(_describe_loop(run)), soft_wrap=True)


def _list_first(names: Sequence[str]) -> str:
    """List names, but only the first ones if there are many."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _describe_loop(run: Counterexample) -> str:
    if run.loop == len(run.steps):
        return "and from then on nothing moves"
    if run.loop + 1 == len(run.steps):
        return f"step {run.loop + 1} is taken again and again, for ever"
    return f"steps {run.loop + 1} to {len(run.steps)} are taken again and again, for ever"


@dataclass(frozen=True, kw_only=True)
class TablesDocument(Document):
    """The result of ``fdverify threshold table``."""

    command: Literal["threshold table"] = "threshold table"
    exit_code: int
    published: tuple[ComparedRow, ...]
    algorithms: tuple[AlgorithmRow, ...]


def report_tables(compared: Sequence[ComparedRow], algorithms: Sequence[AlgorithmRow]) -> Outcome:
    exit_code = choose_exit_code(
        {*(entry.checked.exit_code for entry in algorithms), *(row.exit_code for row in compared)}
    )
    document = TablesDocument(exit_code=exit_code, published=tuple(compared), algorithms=tuple(algorithms))
    return Outcome(exit_code, document, partial(_render_tables, document))


def _render_tables(document: TablesDocument, console: Console) -> None:
    table = Table(*("algorithm", "parameters", "specification", "published", "Spin s", "ours", "s"))
    for row in document.published:
        ours = Text(row.verdict, style="" if row.agrees else "bold red")
        cells = (row.algorithm, row.parameters, row.specification, row.published, row.spin_seconds)
        table.add_row(*map(Text, cells), ours, f"{row.seconds:.2f}")
    console.print(table)
    agree = sum(row.agrees for row in document.published)
    seconds = sum(row.seconds for row in document.published)
    rows = f"{agree} of {len(document.published)} rows"
    console.print(Text(f"{rows} agree or were not answered before, {seconds:.1f} s"), soft_wrap=True)
    sizes = Table(*("file", "locations", "rules", "guards", "specification", "verdict", "s"))
    for entry in document.algorithms:
        numbers = (str(entry.locations), str(entry.rules), str(entry.guards))
        words = Text(entry.specification), Text(entry.checked.word)
        sizes.add_row(Text(entry.file), *numbers, *words, f"{entry.seconds:.2f}")
    console.print(sizes)
