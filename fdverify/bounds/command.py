"""``fdverify bounds``: the smallest safe timeout and the worst-case detection time, as formulas or as numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from fdverify.cli.commands import Command, Request, add_command, add_group
from fdverify.cli.options import (
    bind_model,
    build_option,
    build_property_option,
    choose_examples,
    list_model_options,
    parse_parameter,
)
from fdverify.errors import UsageError
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.model import Model
from fdverify.reports.outcome import Outcome
from fdverify.workers.worker_process import TimeLimitReached, WorkerDied, run_in_worker

if TYPE_CHECKING:
    from fractions import Fraction

Answer = TypeVar("Answer")
HELP = """Find the bounds by which to configure a detector.

With numbers for the parameters, this prints the smallest safe initial timeout and the worst-case detection time, in
ticks and in time, and a run that fails with a smaller timeout.  The commands below find formulas for all parameters.
"""
EXAMPLES = ("fdverify bounds --delta 40 --phi 3 --tick 10ms", "fdverify bounds accuracy --variant ivy")
ACCURACY = """Find the smallest initial timeout from which on a correct sender is never suspected, as a formula.

A formula is fitted to the exact values of small instances, and proved to be enough for all parameters.  A run shows
that nothing less is enough; if the model has a plan for such a run, it does so for all parameters.
"""
DETECTION = """Find the worst-case detection time of a crash, as a formula in the parameters and the timeout.

Find also how often, and for how long, a correct sender can be suspected while the timeout is too short.
"""
EXITS = (
    "0 proved, 1 no initial timeout is safe, or a crash may never be noticed, 2 bad input, "
    "3 no formula was found or nothing was proved, 4 no crash can happen, or a run has a dead end, 70 internal error"
)
_CONFIGURED = (
    "0 configured, 1 no initial timeout is safe, or a crash may never be noticed, 2 bad input, 3 unknown, "
    "4 no crash can happen, or a run has a dead end, 70 internal error"
)
_GRACE = 0.5
_CHOSEN_BY_THE_COMMAND = ("timeout", "crash")


def add_bounds(app: typer.Typer, reference: str, model: Model) -> None:
    """Add ``bounds``, which configures a detector, and its subcommands, which find formulas."""
    group = add_group(app, _build_configure(reference, model))
    for name, text in (("accuracy", ACCURACY), ("detection", DETECTION)):
        add_command(group, _build_formula_command(name, text, reference, model))


def _list_options(model: Model) -> list[inspect.Parameter]:
    """List the model's options, except those that the command chooses itself."""
    return [each for each in list_model_options(model, "N", None) if each.name not in _CHOSEN_BY_THE_COMMAND]


def _build_formula_command(name: str, text: str, reference: str, model: Model) -> Command:
    parameters = [parameter.name for parameter in model.parameters]
    return Command(
        name=f"bounds {name}",
        help=text,
        compute=bind_model(reference, model, partial(_compute_formula, name)),
        examples=choose_examples(
            reference, (f"fdverify bounds {name}", f"fdverify bounds {name} --variant ivy --json")
        ),
        exits=EXITS,
        options=[
            *(each for each in _list_options(model) if each.name not in parameters),
            build_option(
                "proof",
                Path | None,
                None,
                "--proof",
                metavar="FILE",
                help="a proof file whose conjuncts help to prove it",
            ),
            build_property_option(model.default_property),
        ],
        shows_runs=True,
    )


def _build_request(
    reference: str, model: Model, given: Mapping[str, Any], numbers: Mapping[str, int | None]
) -> CheckRequest:
    options = {each.name: given.get(each.name, each.default) for each in model.options}
    return CheckRequest("bounds", reference, numbers, options, given["claim"])


def _compute_formula(name: str, reference: str, model: Model, request: Request, given: Mapping[str, Any]) -> Outcome:
    check = _build_request(reference, model, given, {parameter.name: None for parameter in model.parameters})
    from fdverify.bounds.bounds_search import BoundSearch, find_bounds
    from fdverify.bounds.detector_bound import describe_expected_subject
    from fdverify.bounds.report import report_bounds
    from fdverify.proofs.proof_files import load_proof

    def search_bounds(send: Callable[[str], None]) -> BoundSearch:
        proof = None if given["proof"] is None else load_proof(given["proof"])
        if proof is not None and proof.model.name != model.name:
            raise UsageError(f"{given['proof']} is about {proof.model.name}, not about {model.name}")
        return check.blame_file(lambda: find_bounds(name, check, proof, request.deadline, send))

    def give_up(why: str) -> BoundSearch:
        return BoundSearch(describe_expected_subject(model.name, check.options, given["claim"]), why=why)

    # The search stops by itself, with a partial answer; its process is killed only if it does not.
    end = None if request.deadline is None else request.deadline + _GRACE
    return report_bounds(name, _run_until(end, search_bounds, give_up, request), request.measure_seconds())


def _run_until(
    end: float | None,
    work: Callable[[Callable[[str], None]], Answer],
    give_up: Callable[[str], Answer],
    request: Request,
) -> Answer:
    """Do the work in a process that is killed at this time."""
    left = None if end is None else max(0.0, end - monotonic())
    try:
        return run_in_worker(work, left, request.progress.show, with_workers=True)
    except TimeLimitReached:
        return give_up("the time limit was reached")
    except WorkerDied as death:
        return give_up(str(death))


def _build_configure(reference: str, model: Model) -> Command:
    options = [_make_option(each) if each.name == "model" else each for each in _list_options(model)]
    return Command(
        name="bounds",
        help=HELP,
        compute=bind_model(reference, model, _compute_configuration),
        examples=choose_examples(reference, EXAMPLES),
        exits=_CONFIGURED,
        options=[
            *options,
            build_option(
                "tick", str | None, None, "--tick", metavar="TIME", help="the length of a tick, such as 10ms or 1.5s"
            ),
            build_option(
                "longest",
                int | None,
                None,
                "--longest",
                metavar="N",
                min=1,
                help="the longest initial timeout to try",
            ),
            build_property_option(model.default_property),
        ],
        shows_runs=True,
    )


def _make_option(model: inspect.Parameter) -> inspect.Parameter:
    """Turn the argument into an option: a word before the subcommand would be taken for a subcommand."""
    return build_option(
        "model", str, model.default, "--model", metavar="MODEL", help="the name of a shipped model, or file.py:NAME"
    )


def _compute_configuration(reference: str, model: Model, request: Request, given: Mapping[str, Any]) -> Outcome:
    tick = None if given["tick"] is None else _parse_tick(given["tick"])
    numbers = {each.name: _parse_number(each.name, given[each.name]) for each in model.parameters}
    check = _build_request(reference, model, given, numbers)
    from fdverify.bounds.detector_bound import describe_expected_subject
    from fdverify.bounds.detector_configuration import DetectorConfiguration, configure_detector
    from fdverify.bounds.report import report_configuration
    from fdverify.verdict import Verdict

    def give_up(why: str) -> DetectorConfiguration:
        return DetectorConfiguration(
            describe_expected_subject(model.name, check.options, given["claim"]), Verdict.UNKNOWN, why
        )

    def find_configuration(send: Callable[[str], None]) -> DetectorConfiguration:
        return check.blame_file(lambda: configure_detector(check, numbers, send, given["longest"]))

    configuration = _run_until(request.deadline, find_configuration, give_up, request)
    return report_configuration(numbers, tick, configuration, request.measure_seconds())


def _parse_number(name: str, text: str | None) -> int:
    value = None if text is None else parse_parameter(name, text)
    if value is None:
        raise UsageError(f"--{name} N is needed", "or name a command: fdverify bounds accuracy")
    return value


def _parse_tick(text: str) -> Fraction:
    """Parse the length of a tick; return nanoseconds."""
    from fdverify.durations import parse_duration

    tick = parse_duration("--tick", text)
    if tick <= 0:
        raise UsageError(f"--tick must be positive, got {text.strip()}")
    return tick
