"""``fdverify bounds``: the least safe timeout and the worst detection time, as formulas or at given numbers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import typer

from fdverify.cli.epilog import epilog
from fdverify.cli.options import (
    action,
    examples_for,
    json_option,
    model_options,
    option,
    property_option,
    time_limit_option,
)
from fdverify.cli.output import check_time_limit, number_or_symbolic, print_out
from fdverify.cli.progress import TextLine
from fdverify.errors import UsageError
from fdverify.job import Job
from fdverify.models.model import Model
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker

Answer = TypeVar("Answer")
HELP = """Bounds that a detector can be configured by.

With numbers for the parameters: the least safe initial timeout and the worst detection time there, in ticks and in
time, with the run that shows that one less would fail.  The commands below find the formulas themselves.
"""
EXAMPLES = ("fdverify bounds --delta 40 --phi 3 --tick 10ms", "fdverify bounds accuracy --variant ivy")
ACCURACY = """Find the least initial timeout from which on a correct sender is never suspected, as a formula.

Small instances are explored for their exact values, a formula is fitted, and it is proved for all parameters that it is
enough; that nothing less is enough is shown by a run, of all parameters where the model has a plan for it.
"""
DETECTION = """Find how late a crash is noticed at worst, as a formula in the parameters and the timeout.

Also how often, and for how long, a correct sender is suspected at worst while the timeout is too short.
"""
EXITS = (
    "0 proved, 1 no initial timeout is safe, or a crash may never be noticed, 2 bad input, "
    "3 no formula was found or nothing was proved, 4 no crash can happen, or a run has a dead end, 70 internal error"
)
_CONFIGURED = (
    "0 told, 1 no initial timeout is safe, or a crash may never be noticed, 2 bad input, 3 unknown, "
    "4 no crash can happen, or a run has a dead end, 70 internal error"
)
_GRACE = 0.5
_CHOSEN_BY_THE_COMMAND = ("timeout", "crash")
_UNITS = {"ns": "1e-9", "us": "1e-6", "µs": "1e-6", "ms": "1e-3", "s": "1", "min": "60"}


def bounds_app(reference: str, model: Model) -> typer.Typer:
    app = typer.Typer(
        help=HELP,
        epilog=epilog(*examples_for(reference, EXAMPLES), exits=_CONFIGURED),
        invoke_without_command=True,
        rich_markup_mode=None,
    )
    app.callback()(_configure_action(reference, model))
    for name, text in (("accuracy", ACCURACY), ("detection", DETECTION)):
        examples = (f"fdverify bounds {name}", f"fdverify bounds {name} --variant ivy --json")
        ending = epilog(*examples_for(reference, examples), exits=EXITS)
        app.command(name, help=text, epilog=ending)(_formula_action(name, reference, model))
    return app


def _options(model: Model, values: str, default: str | None) -> list[inspect.Parameter]:
    """The model's options but for those that a bound is about."""
    return [each for each in model_options(model, values, default) if each.name not in _CHOSEN_BY_THE_COMMAND]


def _formula_action(name: str, reference: str, model: Model) -> Any:
    parameters = [parameter.name for parameter in model.parameters]
    own = [
        option("proof", Path | None, None, "--proof", metavar="FILE", help="a proof whose conjuncts to prove with"),
        property_option(model.default_property),
        time_limit_option("then what is left is unknown"),
        json_option(),
    ]
    options = [each for each in _options(model, "N", None) if each.name not in parameters]
    return action(reference, model, [*options, *own], lambda given: _formula(name, reference, model, given))


def _job(reference: str, model: Model, given: Mapping[str, Any], numbers: Mapping[str, int | None]) -> Job:
    options = {each.name: given.get(each.name, each.default) for each in model.options}
    return Job("bounds", reference, numbers, options, given["claim"])


def _formula(name: str, reference: str, model: Model, given: Mapping[str, Any]) -> int:
    start, limit = monotonic(), given["time_limit"]
    check_time_limit(limit)
    deadline = None if limit is None else start + limit
    job = _job(reference, model, given, {parameter.name: None for parameter in model.parameters})
    from fdverify.discovery.bounds.find import Found, find
    from fdverify.discovery.bounds.subject import expected_subject
    from fdverify.proofs.files import load_proof

    def work(send: Callable[[str], None]) -> Found:
        proof = None if given["proof"] is None else load_proof(given["proof"])
        if proof is not None and proof.model.name != model.name:
            raise UsageError(f"{given['proof']} is about {proof.model.name}, not about {model.name}")
        return job.blaming_the_file(lambda: find(name, job, proof, deadline, send))

    def give_up(why: str) -> Found:
        return Found(expected_subject(model.name, job.options, given["claim"]), why=why)

    # It ends by itself, with what it has by then; only if it does not, its process is killed.
    found = _worked(f"bounds {name}", work, None if deadline is None else deadline + _GRACE, give_up)
    seconds = monotonic() - start
    if given["json"]:
        from fdverify.reports.bounds_document import bounds_document

        print_out(bounds_document(name, found, seconds))
    else:
        from fdverify.reports.bounds import bounds_text

        print_out(bounds_text(found, seconds))
    return found.exit_code


def _worked(
    name: str,
    work: Callable[[Callable[[str], None]], Answer],
    deadline: float | None,
    give_up: Callable[[str], Answer],
) -> Answer:
    """What comes of the work, in a process that is killed at the deadline, with a line that shows its progress."""
    line = TextLine(name)
    left = None if deadline is None else max(0.0, deadline - monotonic())
    try:
        return run_in_worker(work, left, line, with_workers=True)
    except TimeLimitReached:
        return give_up("the time limit was reached")
    except WorkerDied as end:
        return give_up(str(end))
    finally:
        line.close()


def _configure_action(reference: str, model: Model) -> Any:
    own = [
        option("tick", str | None, None, "--tick", metavar="TIME", help="how long a tick is, such as 10ms or 1.5s"),
        option("longest", int | None, None, "--longest", metavar="N", min=1, help="the longest initial timeout to try"),
        property_option(model.default_property),
        time_limit_option("then what is left is unknown"),
        json_option(),
    ]
    options = [_as_option(each) if each.name == "model" else each for each in _options(model, "N", None)]

    def called(ctx: typer.Context, **given: Any) -> int | None:
        if ctx.invoked_subcommand is None:
            return configuring(**given)  # type: ignore[no-any-return]
        return None

    configuring = action(reference, model, [*options, *own], lambda given: _configure(reference, model, given))
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    called.__signature__ = inspect.Signature([context, *options, *own])  # type: ignore[attr-defined]
    return called


def _as_option(model: inspect.Parameter) -> inspect.Parameter:
    """A model before a command is named by an option: a word there is the command."""
    return option("model", str, model.default, "--model", metavar="MODEL", help="a shipped name, or file.py:NAME")


def _configure(reference: str, model: Model, given: Mapping[str, Any]) -> int:
    start, limit = monotonic(), given["time_limit"]
    check_time_limit(limit)
    tick = None if given["tick"] is None else _seconds(given["tick"])
    numbers = {p.name: _number(p.name, given[p.name]) for p in model.parameters}
    job = _job(reference, model, given, numbers)
    from fdverify.discovery.bounds.configure import Configuration, configure
    from fdverify.discovery.bounds.subject import expected_subject
    from fdverify.verdict import Verdict

    def give_up(why: str) -> Configuration:
        return Configuration(expected_subject(model.name, job.options, given["claim"]), Verdict.UNKNOWN, why)

    def work(send: Callable[[str], None]) -> Configuration:
        return job.blaming_the_file(lambda: configure(job, numbers, send, given["longest"]))

    found = _worked("bounds", work, None if limit is None else start + limit, give_up)
    seconds = monotonic() - start
    if given["json"]:
        from fdverify.reports.bounds_document import configuration_document

        print_out(configuration_document(numbers, tick, found, seconds))
    else:
        from fdverify.reports.bounds import configuration_text

        print_out(configuration_text(numbers, tick, found))
    return found.verdict.exit_code


def _number(name: str, text: str | None) -> int:
    value = None if text is None else number_or_symbolic(name, text)
    if value is None:
        raise UsageError(f"--{name} N is needed", "or name a command: fdverify bounds accuracy")
    return value


def _seconds(text: str) -> Decimal:
    """A length of time in seconds."""
    match = re.fullmatch(r"\s*([+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([a-zµ]+)\s*", text)
    if match is None or match[2] not in _UNITS:
        raise UsageError(f"--tick must be a time, got {text!r}", f"a number and one of {', '.join(_UNITS)}: 10ms")
    seconds = Decimal(match[1]) * Decimal(_UNITS[match[2]])
    if seconds <= 0:
        raise UsageError(f"--tick must be longer than nothing, got {text.strip()}")
    return seconds
