"""``fdverify threshold``: check and show threshold automata, in ByMC's text format or in Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fdverify.cli.commands import Command, Request, add_command, write_epilog
from fdverify.cli.options import SecondOpinionOption
from fdverify.cli.output import print_answer
from fdverify.errors import UsageError, suggest_name
from fdverify.reports.outcome import Outcome

if TYPE_CHECKING:
    from fdverify.threshold.automaton import Automaton, Specification
    from fdverify.threshold.check_specification import SpecificationResult

_SHOWN = "0 shown, 2 bad input, 70 internal error"
_TABLE = (
    "0 all as published and proved, 1 a figure differs or a specification is violated, 2 bad input, "
    "3 unknown, 4 vacuous, 70 internal error"
)

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="an automaton in ByMC's text format, or a Python file (.py) with one or a control flow automaton",
    ),
]


def add_threshold(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Check threshold automata: any number of processes that count messages.",
        epilog=write_epilog(["fdverify threshold check examples/threshold/strb.ta"]),
        rich_markup_mode=None,
    )
    add_command(group, CHECK)
    group.command(
        "show",
        help="Print an automaton as a Mermaid flowchart: a node per location, an edge per rule.",
        epilog=write_epilog(["fdverify threshold show examples/threshold/strb.ta"], _SHOWN),
    )(_show_automaton)
    add_command(group, TABLE)
    app.add_typer(group, name="threshold")


def _compute_check(
    request: Request,
    *,
    file: File,
    spec: Annotated[
        list[str] | None, typer.Option("--spec", metavar="NAME", help="check this specification; repeatable")
    ] = None,
    fixed: Annotated[str | None, typer.Option("--set", metavar="N=7,T=2", help="fix these parameters")] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option("--assume", metavar="EXPR", help="replace the file's resilience condition; repeatable"),
    ] = None,
    driver: Annotated[
        str,
        typer.Option(
            "--driver",
            metavar="auto|query|search",
            help="query is one formula for all runs; search tries orders of thresholds",
        ),
    ] = "auto",
    second_opinion: SecondOpinionOption = None,
) -> Outcome:
    if second_opinion is not None:
        from fdverify.smt.second_opinion import check_solver_available

        check_solver_available(second_opinion)
    from fdverify.threshold.check_specification import ThresholdSettings, check_specifications
    from fdverify.threshold.fixed_parameters import fix_parameters, replace_assumptions
    from fdverify.threshold.report import report_specifications
    from fdverify.threshold.runs.drivers import DRIVERS
    from fdverify.threshold.text.read import parse_assumption

    if driver not in DRIVERS:
        raise UsageError(f"--driver must be {', '.join(DRIVERS)}, got {driver}")
    automaton = _read_automaton(file)
    if assume:
        automaton = replace_assumptions(automaton, [parse_assumption(text, automaton) for text in assume])
    numbers = _parse_numbers(fixed or "")
    wanted = _choose_specifications(file, automaton, spec or ())
    settings = ThresholdSettings(driver, second_opinion)
    checks = check_specifications(
        fix_parameters(automaton, numbers),
        wanted,
        settings,
        request.time_limit,
        request.progress.show,
        request.workers,
    )
    kept = [_keep_undecided(file, checked) for checked in checks]
    return report_specifications(file, automaton, kept, fixed=numbers, driver=driver, second_opinion=second_opinion)


CHECK = Command(
    name="threshold check",
    help="Check each specification for all admissible parameters; show a run that violates it.",
    compute=_compute_check,
    examples=(
        "fdverify threshold check examples/threshold/strb.ta",
        "fdverify threshold check examples/threshold/strb.ta --spec relay --assume 'N >= 3*T' --assume 'T >= F'",
    ),
    shows_runs=True,
    has_places=True,
    fans_out=True,
)


def _choose_specifications(file: Path, automaton: Automaton, names: Iterable[str]) -> list[Specification]:
    """Choose the specifications with these names, or all, in the file's order."""
    known = [each.name for each in automaton.specifications]
    for name in names:
        if name not in known:
            hint = suggest_name(name, known) if known else None
            raise UsageError(f"{file} has no specification {name}", hint)
    if not known:
        raise UsageError(f"{file} has no specification")
    return [each for each in automaton.specifications if not names or each.name in names]


def _keep_undecided(file: Path, checked: SpecificationResult) -> SpecificationResult:
    """Keep the text of a specification that a solver could not decide."""
    from fdverify.cache.cache_folder import keep_undecided_script

    if checked.undecided is None:
        return checked
    return replace(checked, smtlib=keep_undecided_script(file, file.stem, checked.name, checked.undecided))


def _parse_numbers(text: str) -> dict[str, int]:
    """Parse ``N=7,T=2``, by name."""
    numbers: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(-?[0-9]{1,15})", part)
        if match is None:
            raise UsageError(f"--set {part}: expected NAME=NUMBER")
        if match[1] in numbers:
            raise UsageError(f"--set gives {match[1]} twice")
        numbers[match[1]] = int(match[2])
    return numbers


def _show_automaton(file: File) -> int:
    from fdverify.threshold.text.diagram import format_mermaid  # imported here, because --help needs no grammar

    print_answer(format_mermaid(_read_automaton(file)))
    return 0


def _compute_tables(
    request: Request,
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="a folder with automata, and the published tables in dialog/")
    ] = Path("examples/threshold"),
) -> Outcome:
    from fdverify.threshold.published_tables import check_algorithms, compare_published_rows
    from fdverify.threshold.report import report_tables

    compared = compare_published_rows(folder, request.progress.show)
    return report_tables(compared, list(check_algorithms(folder, request.progress.show)))


TABLE = Command(
    name="threshold table",
    help="Compare published tables of four broadcasts with ours, and time all algorithms of a folder.",
    compute=_compute_tables,
    examples=("fdverify threshold table examples/threshold",),
    exits=_TABLE,
    time_limit=None,
)


def _read_automaton(file: Path) -> Automaton:
    """Read the automaton in a text file or a Python file."""
    from fdverify.threshold.text.read import read_automaton

    if file.suffix != ".py":
        return read_automaton(file)
    from fdverify.models.loading import load_module
    from fdverify.threshold.automaton import Automaton
    from fdverify.threshold.flow import ControlFlow, build_threshold_automaton

    values = vars(load_module(file)).values()
    automata = list({id(value): value for value in values if isinstance(value, Automaton | ControlFlow)}.values())
    if len(automata) != 1:
        raise UsageError(f"{file} has {len(automata)} automata, but needs exactly one", "an Automaton or a ControlFlow")
    return automata[0] if isinstance(automata[0], Automaton) else build_threshold_automaton(automata[0])
