"""``fdverify threshold``: threshold automata, in ByMC's text format."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fdverify.cli.output import check_time_limit, print_out
from fdverify.errors import UsageError, did_you_mean

File = Annotated[Path, typer.Argument(metavar="FILE.ta", help="an automaton in ByMC's text format")]


def threshold_app() -> typer.Typer:
    app = typer.Typer(
        help="Threshold automata: processes that count messages, for any number of them.", rich_markup_mode=None
    )
    app.command("check", help="Does each specification hold for all admissible parameters?  If not, a run shows it.")(
        _check
    )
    app.command("show", help="Print an automaton as a Mermaid flowchart: a node a location, an edge a rule.")(_show)
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
        str, typer.Option("--driver", metavar="auto|query|search", help="how to look for runs that break it")
    ] = "auto",
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", metavar="SECONDS", help="then what is left is unknown")
    ] = None,
    second_opinion: Annotated[
        str | None, typer.Option("--second-opinion", metavar="SOLVER", help="decide all again, such as with cvc5")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON document")] = False,
) -> int:
    check_time_limit(time_limit)
    if second_opinion is not None:
        from fdverify.smt.second import check_available

        check_available(second_opinion)
    from fdverify.reports.threshold import checks_document, checks_text
    from fdverify.threshold.check import check_all
    from fdverify.threshold.instance import with_parameters
    from fdverify.threshold.read import read_assumption, read_file

    automaton = read_file(file)
    if assume:
        automaton = replace(automaton, assumptions=tuple(read_assumption(text, automaton) for text in assume))
    automaton = with_parameters(automaton, _numbers(fixed or ""))
    known = [each.name for each in automaton.specifications]
    for name in spec or ():
        if name not in known:
            hint = did_you_mean(name, known) if known else None
            raise UsageError(f"{file} has no specification {name}", hint)
    if not known:
        raise UsageError(f"{file} has no specification")
    wanted = [each for each in automaton.specifications if not spec or each.name in spec]
    found = check_all(automaton, wanted, time_limit, driver, second_opinion)
    codes = {checked.verdict.exit_code for checked in found}
    exit_code = next(code for code in (1, 4, 3, 0) if code in codes)
    print_out(checks_document(automaton, found, exit_code) if json else checks_text(automaton, found))
    return exit_code


def _numbers(text: str) -> dict[str, int]:
    """``N=7,T=2`` by name."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"([A-Za-z_]\w*)\s*=\s*(-?\d{1,15})", part)
        if match is None:
            raise UsageError(f"--set {part}: this is no NAME=NUMBER")
        if match[1] in found:
            raise UsageError(f"--set gives {match[1]} twice")
        found[match[1]] = int(match[2])
    return found


def _show(file: File) -> int:
    from fdverify.threshold.diagram import mermaid  # imported here: no other command reads grammars
    from fdverify.threshold.read import read_file

    print_out(mermaid(read_file(file)))
    return 0
