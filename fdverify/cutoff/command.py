"""``fdverify cutoff``: prove that one process and two processes decide any number of processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fdverify.cli.commands import Command, Request
from fdverify.cli.options import SecondOpinionOption
from fdverify.errors import UsageError
from fdverify.reports.outcome import Outcome

if TYPE_CHECKING:
    from fdverify.cutoff.answer import SmallSystemBounds
    from fdverify.cutoff.lemma_check import LemmaResult

HELP = """Prove that one process and two processes decide a property of N processes, for every N.

A template is a symmetric point-to-point algorithm: three functions say what each of N processes does.  The lemmas of
the cutoff theorem are proved for every N and every template of that class, under partial synchrony, synchrony and
asynchrony.  For the shipped template, chandra-toueg, it is also proved that each round of two processes is a round of
the model with one sender and one receiver, and the shipped proofs that carry over to N processes are listed.  With
--processes, a small system is explored as well."""
EXAMPLES = (
    "fdverify cutoff chandra-toueg --property strong-accuracy --second-opinion cvc5",
    "fdverify cutoff examples/missed_heartbeats.py:MISSED_HEARTBEATS",
)
EXITS = "0 proved, 1 a lemma fails or an explored property is violated, 2 bad input, 3 unknown, 4 vacuous"


def _compute_cutoff(
    request: Request,
    *,
    template: Annotated[
        str, typer.Argument(metavar="[TEMPLATE]", help="chandra-toueg, or file.py:NAME of your own template")
    ] = "chandra-toueg",
    claim: Annotated[
        str | None,
        typer.Option(
            "--property", metavar="NAME|FORMULA", help="such as 'G (correct(p) -> !suspected(q, p))'; by default all"
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", metavar="N", help="also explore a system of this size, 1 to 3")
    ] = None,
    delta: Annotated[
        int | None, typer.Option("--delta", metavar="N", help="with --processes: the bound on delay")
    ] = None,
    phi: Annotated[int | None, typer.Option("--phi", metavar="N", help="with --processes: the bound on speed")] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", min=0, help="with --processes: stop after this many rounds")
    ] = None,
    computation: Annotated[
        str,
        typer.Option(
            "--computation",
            metavar="NAME",
            help="with --processes: partial-synchrony, synchrony, asynchrony or unrestricted",
        ),
    ] = "partial-synchrony",
    timeout: Annotated[
        int | None, typer.Option("--timeout", metavar="N", help="for chandra-toueg: the initial timeout to explore")
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="tla|ivy", help="for chandra-toueg: how it waits")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="send|receive|compute", help="for chandra-toueg: its first step")
    ] = None,
    proofs: Annotated[
        list[Path] | None,
        typer.Option("--proofs", metavar="PATH", help="for chandra-toueg: the proofs, by default the shipped ones"),
    ] = None,
    second_opinion: SecondOpinionOption = None,
) -> Outcome:
    if second_opinion is not None:
        from fdverify.smt.second_opinion import check_solver_available

        check_solver_available(second_opinion)
    from fdverify.cutoff.answer import CutoffQuestion, answer_question, parse_properties
    from fdverify.cutoff.report import report_cutoff
    from fdverify.cutoff.template_catalogue import SHIPPED
    from fdverify.proofs.proof_files import list_proof_files

    given = {"timeout": timeout, "variant": variant, "start": start}
    options = {name: value for name, value in given.items() if value is not None}
    small = _build_small_system(processes, delta, phi, computation, depth)
    question = CutoffQuestion(template, options, claim, second_opinion, small, tuple(proofs or ()))
    if proofs and template != SHIPPED:
        raise UsageError(f"--proofs is an option of {SHIPPED} only", "no other template has a model of two processes")
    list_proof_files(question.proofs)  # missing files are reported before the work
    shapes = parse_properties(question)
    answer = answer_question(question, request.time_limit, request.progress.show)
    answer.checked[:] = [_keep_undecided(template, each) for each in answer.checked]
    return report_cutoff(question, shapes, answer, request.measure_seconds())


def _build_small_system(
    processes: int | None, delta: int | None, phi: int | None, computation: str, depth: int | None
) -> SmallSystemBounds | None:
    from fdverify.cutoff.answer import SmallSystemBounds
    from fdverify.cutoff.rounds import ComputationModel
    from fdverify.cutoff.small_system import check_system_bounds

    if computation not in list(ComputationModel):
        raise UsageError(f"--computation must be one of {', '.join(ComputationModel)}, got {computation}")
    if processes is None:
        given = {"delta": delta, "phi": phi, "depth": depth}
        for name in (name for name, value in given.items() if value is not None):
            raise UsageError(f"--{name} is only for a system to explore", "give --processes too")
        return None
    if delta is None or phi is None:
        raise UsageError(
            "--processes needs --delta and --phi", "the lemmas hold for all values, but exploration needs numbers"
        )
    check_system_bounds(processes, delta, phi)
    if depth is None and ComputationModel(computation) is not ComputationModel.PARTIAL_SYNCHRONY:
        raise UsageError(f"under {computation} messages may grow old for ever", "give --depth too")
    return SmallSystemBounds(processes, delta, phi, ComputationModel(computation), depth)


def _keep_undecided(template: str, checked: LemmaResult) -> LemmaResult:
    """Keep the text of a lemma that a solver could not decide."""
    from fdverify.cache.cache_folder import keep_undecided_script

    if checked.undecided is None:
        return checked
    return replace(checked, smtlib=keep_undecided_script(Path(template), "cutoff", checked.name, checked.undecided))


CUTOFF = Command(name="cutoff", help=HELP, compute=_compute_cutoff, examples=EXAMPLES, exits=EXITS, shows_runs=True)
