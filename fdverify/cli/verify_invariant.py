"""``verify-invariant``: are the proofs in these files proofs?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from inspect import Signature, signature
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from fdverify.cli.epilog import epilog
from fdverify.cli.guard import call_app, guarded, print_error, show_version
from fdverify.cli.output import (
    SYMBOLIC,
    check_reports,
    check_time_limit,
    number_or_symbolic,
    print_out,
    write_file,
    write_page,
)
from fdverify.cli.progress import StageLine, TextLine
from fdverify.cli.proof_options import ModelOption, options_of_models, split_values
from fdverify.cli.shared import HtmlOption, JsonOption, SecondOpinionOption, TimeLimitOption
from fdverify.errors import UsageError
from fdverify.files import is_writable_tree
from fdverify.models.model import OptionValue

if TYPE_CHECKING:
    from fdverify.discovery.suggest.suggest import Suggested
    from fdverify.proofs.course import Settings
    from fdverify.proofs.result import ProofResult

_HELP = """Check inductive proofs: proved for every value of the parameters, or the step that breaks a conjunct.

A proof file is Python: it names a model and a goal, and declares the conjuncts of an inductive invariant.  A folder
stands for the files in and below it in which a proof is made, those whose names start with _ left out.  The parameters
and options of the models that the proofs are about are options here, too: --help lists those of the files named.

Each conjunct is shown to hold initially (initiation) and after every round from a state in which all of them hold
(consecution), and all of them together to imply the goal; that the proof is not vacuous is shown too.  With --suggest,
conjuncts are looked for with which a proof that a step breaks would be one.  With --watch, what a saved file concerns
is checked again, until Ctrl-C.
"""
_EPILOG = epilog(
    "verify-invariant invariants",
    "verify-invariant invariants/strong_accuracy.py --second-opinion cvc5",
    "verify-invariant examples/first_attempt.py --suggest",
    "verify-invariant examples/first_attempt.py --sarif found.sarif --html found.html",
    "verify-invariant --shipped",
    exits="0 proved, 1 violated or not inductive, 2 bad input, 3 unknown, 4 vacuous, 70 internal error; "
    "of several proofs, the first of 70, 2, 1, 4, 3, 0 that occurs",
)


def run(arguments: Sequence[str]) -> int:
    return guarded(lambda: _call(arguments))


def _call(arguments: Sequence[str]) -> Any:
    """Parse with the options of the models that the proofs are about, if the line has any that are not our own."""
    app = build_app()
    own = [flag for each in typer.main.get_command(app).params for flag in (*each.opts, *each.secondary_opts)]
    options = options_of_models(arguments, own)
    app = build_app(options) if options else app
    return call_app(app, "verify-invariant", arguments)


def build_app(options: Sequence[ModelOption] = ()) -> typer.Typer:
    app = typer.Typer(
        add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.command(help=_HELP, epilog=_EPILOG)(_action(options))
    return app


def _action(options: Sequence[ModelOption]) -> Any:
    """The command, with more options, whose values are handed on together."""
    hints = get_type_hints(_verify, include_extras=True)
    own = [each.replace(annotation=hints[each.name]) for each in signature(_verify).parameters.values()][1:]

    def called(**given: Any) -> int:
        more = {each.argument: given.pop(each.argument) for each in options}
        return _verify(split_values(options, more), **given)

    keywords = [each.replace(kind=each.KEYWORD_ONLY) for each in own]
    called.__signature__ = Signature([*keywords, *(each.for_command() for each in options)])  # type: ignore[attr-defined]
    return called


def _verify(
    of_models: tuple[dict[str, int], dict[str, OptionValue]],
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="proof files, or folders of them")
    ] = None,
    shipped: Annotated[bool, typer.Option("--shipped", help="check the proofs that come with the package")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="check this conjunct or obligation only; repeatable"),
    ] = None,
    delta: Annotated[str, typer.Option("--delta", metavar="N|symbolic", help="the bound on message delay")] = SYMBOLIC,
    phi: Annotated[str, typer.Option("--phi", metavar="N|symbolic", help="the bound on relative speed")] = SYMBOLIC,
    gst: Annotated[
        str,
        typer.Option("--gst", metavar="N|symbolic", help="from when on the bounds hold, in models with such a time"),
    ] = SYMBOLIC,
    variant: Annotated[str | None, typer.Option("--variant", metavar="NAME", help="instead of the file's own")] = None,
    buffer: Annotated[str | None, typer.Option("--buffer", metavar="NAME", help="encoding of the buffer")] = None,
    k: Annotated[int, typer.Option("--k", metavar="N", min=1, help="let the conjuncts be N-inductive together")] = 1,
    time_limit: TimeLimitOption = None,
    memory_limit: Annotated[
        int | None, typer.Option("--memory-limit", metavar="MB", min=200, help="for each worker process")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", min=1, help="worker processes; one a core by default")
    ] = None,
    json: JsonOption = False,
    html: HtmlOption = None,
    sarif: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="write what failed, as SARIF for code scanning")
    ] = None,
    smtlib: Annotated[
        Path | None, typer.Option("--smtlib", metavar="DIR", help="write every obligation as an SMT-LIB file")
    ] = None,
    second_opinion: SecondOpinionOption = None,
    stability: Annotated[
        int, typer.Option("--stability", metavar="N", min=0, help="decide all again under N seeds, shuffled")
    ] = 0,
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="N", min=0, help="the solver's seed; all but 0 shuffle and bypass the cache"),
    ] = 0,
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="reuse what was proved before")] = True,
    witness: Annotated[bool, typer.Option("--witness", help="show a run in which the goal's premise holds")] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="look for conjuncts that are missing, where a step breaks a proof")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="check again whenever a file is saved that a proof rests on")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="show the version and exit", is_eager=True, callback=show_version)
    ] = False,
) -> int:
    start = perf_counter()
    check_time_limit(time_limit)
    if not paths and not shipped:
        raise UsageError("there is nothing to check", "name proof files or folders, or give --shipped")
    if watch:
        _check_watchable(
            {"--json": json, "--html": html is not None, "--sarif": sarif is not None, "--suggest": suggest}
        )
    numbers = {name: number_or_symbolic(name, text) for name, text in (("delta", delta), ("phi", phi), ("gst", gst))}
    chosen = {"variant": variant, "buffer": buffer}
    # Imported here: --help needs neither the solver nor the models.
    from fdverify.proofs.check import check
    from fdverify.proofs.course import Settings
    from fdverify.proofs.files import find_proof_files
    from fdverify.proofs.result import exit_code, with_proofs
    from fdverify.proofs.shipped import FOLDER

    if second_opinion is not None:
        from fdverify.smt.second import check_available

        check_available(second_opinion)
    check_reports({"--html": html, "--sarif": sarif})
    if smtlib is not None and not is_writable_tree(smtlib):
        raise UsageError(f"cannot write into {smtlib}")
    settings = Settings(
        parameters={**{name: value for name, value in numbers.items() if value is not None}, **of_models[0]},
        options={**{name: value for name, value in chosen.items() if value is not None}, **of_models[1]},
        k=k,
        only=tuple(only or ()),
        time_limit=time_limit,
        memory_limit=memory_limit,
        smtlib=smtlib,
        second_opinion=second_opinion,
        stability=stability,
        seed=seed,
        cache=cache,
        **({} if jobs is None else {"jobs": jobs}),
    )
    named = [*(paths or ()), *([FOLDER] if shipped else ())]
    if watch:
        from fdverify.cli.watch import watch as watch_files

        watch_files(named, settings, witness)
    line = StageLine()
    found_files = find_proof_files(named)
    try:
        results = check(found_files.files, settings, line)
    finally:
        line.close()
    results, without = with_proofs(found_files, results)
    for result in results:
        if result.error is not None:
            print_error(result.error)
    if sarif is not None:
        from fdverify.reports.sarif import sarif_log

        write_file(sarif, sarif_log(results))
    suggested = _suggested(results, settings, start) if suggest else []
    seconds = perf_counter() - start
    found = ""
    if json or html is not None:
        from fdverify.reports.proof_document import proof_document

        found = proof_document(results, seconds, witness, suggested)
    if html is not None:
        write_page(html, found)
    if not json:
        from fdverify.reports.proofs import proofs_text

        found = proofs_text(results, seconds, witness, suggested, without)
    elif without:
        print(f"note: {without} {'file' if without == 1 else 'files'} without a proof", file=sys.stderr)
    print_out(found)
    return exit_code(results)


def _check_watchable(given: dict[str, bool]) -> None:
    """Refuse what is made once, at the end, of which there is none."""
    for flag, is_given in given.items():
        if is_given:
            raise UsageError(f"{flag} is for one check, and --watch goes on checking", "leave one of them out")


def _suggested(results: Sequence[ProofResult], settings: Settings, start: float) -> Sequence[Suggested]:
    """What is suggested for the proofs that failed, in the time that is left."""
    from fdverify.discovery.suggest.suggest import suggest

    line = TextLine("verify-invariant")
    left = None if settings.time_limit is None else settings.time_limit - (perf_counter() - start)
    try:
        return suggest(results, settings, left, line)
    finally:
        line.close()
