"""``fdverify threshold``: threshold automata, in ByMC's text format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fdverify.cli.epilog import epilog
from fdverify.cli.output import check_report, check_time_limit, print_out, write_page
from fdverify.cli.progress import TextLine
from fdverify.cli.shared import HtmlOption, JsonOption, SecondOpinionOption, TimeLimitOption
from fdverify.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from fdverify.threshold.automaton import Automaton, Specification
    from fdverify.threshold.check import Checked

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


def threshold_app() -> typer.Typer:
    app = typer.Typer(
        help="Threshold automata: processes that count messages, for any number of them.",
        epilog=epilog("fdverify threshold check examples/threshold/strb.ta"),
        rich_markup_mode=None,
    )
    app.command(
        "check",
        help="Does each specification hold for all admissible parameters?  If not, a run shows it.",
        epilog=epilog(
            "fdverify threshold check examples/threshold/strb.ta",
            "fdverify threshold check examples/threshold/strb.ta --spec relay --assume 'N >= 3*T' --assume 'T >= F'",
        ),
    )(_check)
    app.command(
        "show",
        help="Print an automaton as a Mermaid flowchart: a node a location, an edge a rule.",
        epilog=epilog("fdverify threshold show examples/threshold/strb.ta", exits=_SHOWN),
    )(_show)
    app.command(
        "table",
        help="Print published tables of four broadcasts beside ours, and the algorithms of a folder with times.",
        epilog=epilog("fdverify threshold table examples/threshold", exits=_TABLE),
    )(_table)
    return app


def _check(
    file: File,
    spec: Annotated[
        list[str] | None, typer.Option("--spec", metavar="NAME", help="check this specification; repeatable")
    ] = None,
    fixed: Annotated[
        str | None, typer.Option("--set", metavar="N=7,T=2", help="certain parameters instead of all")
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option("--assume", metavar="EXPR", help="instead of the file's resilience condition; repeatable"),
    ] = None,
    driver: Annotated[
        str,
        typer.Option(
            "--driver",
            metavar="auto|query|search",
            help="one formula for all runs, or a search through orders of thresholds",
        ),
    ] = "auto",
    time_limit: TimeLimitOption = None,
    second_opinion: SecondOpinionOption = None,
    json: JsonOption = False,
    html: HtmlOption = None,
) -> int:
    check_time_limit(time_limit)
    if html is not None:
        check_report(html, file)
    if second_opinion is not None:
        from fdverify.smt.second import check_available

        check_available(second_opinion)
    from fdverify.threshold.check import Settings, check_all
    from fdverify.threshold.instance import with_assumptions, with_parameters
    from fdverify.threshold.runs.drivers import DRIVERS
    from fdverify.threshold.text.read import read_assumption
    from fdverify.verdict import worst

    if driver not in DRIVERS:
        raise UsageError(f"--driver must be {', '.join(DRIVERS)}, got {driver}")
    automaton = _automaton(file)
    if assume:
        automaton = with_assumptions(automaton, [read_assumption(text, automaton) for text in assume])
    numbers = _numbers(fixed or "")
    wanted = _wanted(file, automaton, spec or ())
    line = TextLine("threshold check")
    try:
        settings = Settings(driver, second_opinion)
        found = check_all(with_parameters(automaton, numbers), wanted, settings, time_limit, line)
    finally:
        line.close()
    exit_code = worst({checked.exit_code for checked in found})
    kept = _kept(file, found)
    text = ""
    if json or html is not None:
        from fdverify.reports.threshold_document import checks_document

        text = checks_document(
            str(file),
            automaton,
            found,
            fixed=numbers,
            driver=driver,
            second=second_opinion,
            exit_code=exit_code,
            kept=kept,
        )
    if html is not None:
        write_page(html, text)
    if not json:
        from fdverify.reports.threshold import checks_text

        text = checks_text(automaton, found, kept)
    print_out(text)
    return exit_code


def _wanted(file: Path, automaton: Automaton, names: Iterable[str]) -> list[Specification]:
    """The specifications of these names, or all, in the file's order."""
    known = [each.name for each in automaton.specifications]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) if known else None
            raise UsageError(f"{file} has no specification {name}", hint)
    if not known:
        raise UsageError(f"{file} has no specification")
    return [each for each in automaton.specifications if not names or each.name in names]


def _kept(file: Path, found: Iterable[Checked]) -> dict[str, str]:
    """Files with what a solver did not know, by specification."""
    from fdverify.smt.undecided import keep_undecided

    paths = {
        checked.specification: keep_undecided(file, file.stem, checked.specification, checked.undecided)
        for checked in found
        if checked.undecided is not None
    }
    return {name: str(path) for name, path in paths.items() if path is not None}


def _numbers(text: str) -> dict[str, int]:
    """``N=7,T=2`` by name."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(-?[0-9]{1,15})", part)
        if match is None:
            raise UsageError(f"--set {part}: this is no NAME=NUMBER")
        if match[1] in found:
            raise UsageError(f"--set gives {match[1]} twice")
        found[match[1]] = int(match[2])
    return found


def _show(file: File) -> int:
    from fdverify.threshold.text.diagram import mermaid  # imported here: no other command reads grammars

    print_out(mermaid(_automaton(file)))
    return 0


def _table(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="with the automata, and the published tables in dialog/")
    ] = Path("examples/threshold"),
    json: JsonOption = False,
) -> int:
    from fdverify.reports.threshold_tables import tables_document, tables_text
    from fdverify.threshold.tables import algorithm_rows, compared_rows
    from fdverify.verdict import Verdict, worst

    line = TextLine("threshold table")
    try:
        compared = compared_rows(folder, line)
        algorithms = list(algorithm_rows(folder, line))
    finally:
        line.close()
    codes = {entry.checked.exit_code for entry in algorithms}
    codes |= {0 if row.agrees else 3 if row.verdict == Verdict.UNKNOWN else 1 for row in compared}
    exit_code = worst(codes)
    print_out(tables_document(compared, algorithms, exit_code) if json else tables_text(compared, algorithms))
    return exit_code


def _automaton(file: Path) -> Automaton:
    """The automaton of a file."""
    from fdverify.threshold.text.read import read_file

    if file.suffix != ".py":
        return read_file(file)
    from fdverify.models.user_files import load_module
    from fdverify.threshold.automaton import Automaton
    from fdverify.threshold.flow import ControlFlow, threshold_automaton

    values = vars(load_module(file)).values()
    found = list({id(value): value for value in values if isinstance(value, Automaton | ControlFlow)}.values())
    if len(found) != 1:
        raise UsageError(f"{file} has {len(found)} automata, and one is needed", "an Automaton or a ControlFlow")
    return found[0] if isinstance(found[0], Automaton) else threshold_automaton(found[0])
