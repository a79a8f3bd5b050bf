"""The command ``verify-invariant``, which checks the proofs in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdverify.cli.commands import Command, Request, list_own_options, show_version
from fdverify.cli.exit_codes import describe_in_line
from fdverify.cli.options import SYMBOLIC, SecondOpinionOption, parse_parameter
from fdverify.errors import UsageError
from fdverify.proofs.model_options import ModelOption, split_values
from fdverify.workers.atomic_files import is_writable_tree

if TYPE_CHECKING:
    from fdverify.proofs.proof_result import ProofResult, ProofSuggestions
    from fdverify.proofs.proof_settings import ProofSettings
    from fdverify.reports.outcome import Outcome

Suggest = Callable[
    [Sequence["ProofResult"], "ProofSettings", float | None, Callable[[str], None]], list["ProofSuggestions"]
]
"""The type of the function that searches for missing conjuncts."""
_HELP = """Check inductive proofs: proved for every value of the parameters, or the step that breaks a conjunct.

A proof file is Python: it names a model and a goal, and declares the conjuncts of an inductive invariant.  A folder
stands for the files in and below it that contain a proof, except those whose names start with _.  The parameters and
options of the proofs' models are options here, too: --help lists those of the files named.

Each conjunct must hold initially (initiation) and after every round from a state in which all conjuncts hold
(consecution), and together they must imply the goal.  The proof must not be vacuous.  With --suggest, if a step breaks
a proof, conjuncts that would complete it are searched for.  With --watch, the proofs that depend on a file are checked
again whenever it is saved, until Ctrl-C.
"""
_EXAMPLES = (
    "verify-invariant invariants",
    "verify-invariant invariants/strong_accuracy.py --second-opinion cvc5",
    "verify-invariant examples/first_attempt.py --suggest",
    "verify-invariant examples/first_attempt.py --sarif found.sarif --html found.html",
    "verify-invariant --shipped",
)
_EXITS = (
    "0 proved, 1 violated or not inductive, 2 bad input, 3 unknown, 4 vacuous, 70 internal error; "
    "of several proofs, the first of 70, 2, 1, 4, 3, 0 that occurs"
)


def build_command(suggest: Suggest, options: Sequence[ModelOption] = ()) -> Command:
    """Build the command, with the options of the proofs' models."""

    def compute_outcome(request: Request, **given: Any) -> Outcome:
        of_models = {each.argument: given.pop(each.argument) for each in options}
        return _compute_verdicts(request, suggest, options, of_models, **given)

    command = Command(
        name="verify-invariant",
        help=_HELP,
        compute=_compute_verdicts,
        examples=_EXAMPLES,
        exits=_EXITS,
        shows_runs=True,
        has_places=True,
        fans_out=True,
    )
    own = [*list_own_options(command), *(each.build_parameter() for each in options)]
    return replace(command, compute=compute_outcome, options=own)


def _compute_verdicts(
    request: Request,
    find_suggestions: Suggest,
    options: Sequence[ModelOption],
    of_models: Mapping[str, Any],
    *,
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
        typer.Option(
            "--gst", metavar="N|symbolic", help="the time from which on the bounds hold, in models that have one"
        ),
    ] = SYMBOLIC,
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="NAME", help="the variant, instead of the file's own")
    ] = None,
    buffer: Annotated[str | None, typer.Option("--buffer", metavar="NAME", help="the encoding of the buffer")] = None,
    k: Annotated[
        int, typer.Option("--k", metavar="N", min=1, help="check that the conjuncts together are N-inductive")
    ] = 1,
    memory_limit: Annotated[
        int | None,
        typer.Option("--memory-limit", metavar="MB", min=200, help="the memory limit of each worker process"),
    ] = None,
    smtlib: Annotated[
        Path | None, typer.Option("--smtlib", metavar="DIR", help="write every obligation as an SMT-LIB file")
    ] = None,
    second_opinion: SecondOpinionOption = None,
    stability: Annotated[
        int,
        typer.Option("--stability", metavar="N", min=0, help="decide everything again with N seeds, in shuffled order"),
    ] = 0,
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="N", min=0, help="the solver's seed; any but 0 shuffles and bypasses the cache"),
    ] = 0,
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="reuse what was proved before")] = True,
    witness: Annotated[bool, typer.Option("--witness", help="show a run in which the goal's premise holds")] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="if a step breaks a proof, search for missing conjuncts")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="check again whenever a file that a proof depends on is saved")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="show the version and exit", is_eager=True, callback=show_version)
    ] = False,
) -> Outcome:
    if not paths and not shipped:
        raise UsageError("there is nothing to check", "name proof files or folders, or give --shipped")
    if watch:
        for flag in [*request.outputs.list_flags(), *(["--suggest"] if suggest else [])]:
            raise UsageError(f"{flag} is for one check, and --watch goes on checking", "leave one of them out")
    numbers = {name: parse_parameter(name, text) for name, text in (("delta", delta), ("phi", phi), ("gst", gst))}
    chosen = {"variant": variant, "buffer": buffer}
    parameters, model_options = split_values(options, of_models)
    # Imported here, because --help needs neither the solver nor the models.
    from fdverify.proofs.check_proofs import check_proofs
    from fdverify.proofs.proof_files import find_proof_files
    from fdverify.proofs.proof_result import select_with_proof
    from fdverify.proofs.proof_settings import ProofSettings
    from fdverify.proofs.shipped_proofs import SHIPPED_FOLDER

    if second_opinion is not None:
        from fdverify.smt.second_opinion import check_solver_available

        check_solver_available(second_opinion)
    if smtlib is not None and not is_writable_tree(smtlib):
        raise UsageError(f"cannot write into {smtlib}")
    settings = ProofSettings(
        parameters={**{name: value for name, value in numbers.items() if value is not None}, **parameters},
        options={**{name: value for name, value in chosen.items() if value is not None}, **model_options},
        k=k,
        only=tuple(only or ()),
        time_limit=request.time_limit,
        memory_limit=memory_limit,
        smtlib=smtlib,
        second_opinion=second_opinion,
        stability=stability,
        seed=seed,
        cache=cache,
        jobs=request.workers.jobs,
        cluster=request.workers.cluster,
    )
    named = [*(paths or ()), *([SHIPPED_FOLDER] if shipped else ())]
    if watch:
        from fdverify.proofs.watch import watch_proofs as watch_files

        watch_files(named, settings, witness, request.progress)
    files = find_proof_files(named)
    results, without = select_with_proof(
        files, check_proofs(files.files, settings, lambda stage: request.progress.show(str(stage)), _import_report)
    )
    from fdverify.proofs.report import ProofsReport, write_count

    suggestions: list[ProofSuggestions] = []
    if suggest:
        left = None if request.time_limit is None else request.time_limit - request.measure_seconds()
        suggestions = find_suggestions(results, settings, left, request.progress.show)
    outcome = ProofsReport(results, request.measure_seconds(), witness, suggestions, without).build_outcome()
    asides = [describe_in_line(result.error) for result in results if result.error is not None]
    if without and request.outputs.json:
        asides.append(f"note: {write_count(without, 'file')} without a proof")
    return replace(outcome, asides=tuple(asides))


def _import_report() -> None:
    """Import what writes the report, which takes no time while the workers are busy."""
    import_module("fdverify.proofs.report")
