"""The application: built anew for each call, because the model that is named decides which options there are."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from fdverify.cli.commands import COMMANDS, Command
from fdverify.cli.guard import guarded, show_version
from fdverify.cli.output import SYMBOLIC, number_or_symbolic
from fdverify.cli.perform import Output, perform
from fdverify.cli.threshold import threshold_app
from fdverify.errors import UsageError
from fdverify.job import Job
from fdverify.models.catalogue import DEFAULT, SHIPPED, find_model, is_file_reference
from fdverify.models.model import Model


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says; the exit code."""
    return guarded(lambda: _dispatch(arguments or ["--help"]))


def _dispatch(arguments: Sequence[str]) -> Any:
    """Parse with the options of the model that the line seems to name, and again if it names another."""
    reference = _named_model(arguments)
    try:
        find_model(reference)
    except UsageError as wrong:
        # Perhaps the word was an option's value.  If the line does not parse without it, it was meant as a model.
        try:
            return _call(DEFAULT, arguments)
        except _OtherModel as other:
            return _call(other.reference, arguments)
        except TyperException:
            raise wrong from None
    try:
        return _call(reference, arguments)
    except _OtherModel as other:
        return _call(other.reference, arguments)


class _OtherModel(Exception):
    """The line names another model than it seemed to before it was parsed."""

    def __init__(self, reference: str) -> None:
        self.reference = reference


def _call(reference: str, arguments: Sequence[str]) -> Any:
    return build_app(reference)(arguments, prog_name="fdverify", standalone_mode=False)


def _named_model(arguments: Sequence[str]) -> str:
    """The first word that looks like a model: which words are options' values is known only with its options."""
    named = (word for word in arguments if word in SHIPPED or is_file_reference(word))
    return next(named, DEFAULT)


def build_app(reference: str) -> typer.Typer:
    model = find_model(reference)
    app = typer.Typer(
        help="Verify failure detectors under partial synchrony.",
        epilog="Exit codes: 0 proved or bounded, 1 violated, 2 bad input, 3 unknown, 4 vacuous, 70 internal error.",
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_version)
    for command in COMMANDS:
        app.command(command.name, help=command.help)(_action(command, reference, model))
    app.add_typer(threshold_app(), name="threshold")
    return app


def _version(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """The options before a command."""


def _action(command: Command, reference: str, model: Model) -> Any:
    """A function whose signature lists the options for typer: the model's, the command's, the shared ones."""

    def action(**given: Any) -> int:
        if given["model"] != reference:
            raise _OtherModel(given["model"])
        if not given["claim"]:
            raise UsageError(f"{model.name} names no property to check", "give one: --property NAME")
        job = Job(
            command=command.name,
            model=reference,
            parameters={p.name: number_or_symbolic(p.name, given[p.name]) for p in model.parameters},
            options={option.name: given[option.name] for option in model.options},
            claim=given["claim"],
            settings={setting.argument: given[setting.argument] for setting in command.settings},
        )
        output = Output(given["json"], given["itf"], tuple(given["show"] or ()), given["subrounds"])
        return perform(job, given["time_limit"], output)

    own, others = _model_options(model), [*_command_options(command), *_shared_options(command, model)]
    parameters = [*own, *others]
    names = [parameter.name for parameter in parameters]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"model {model.name} has an option {twice[0]}, which is taken", "give it another name")
    action.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return action


def _option(name: str, kind: Any, default: Any, *flags: str, **settings: Any) -> inspect.Parameter:
    annotation = Annotated[kind, typer.Option(*flags, **settings)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _model_options(model: Model) -> list[inspect.Parameter]:
    argument = Annotated[str, typer.Argument(metavar="MODEL", help="a shipped name, or file.py:NAME")]
    for name in [*(p.name for p in model.parameters), *(o.name for o in model.options)]:
        if not name.isidentifier() or iskeyword(name):
            raise UsageError(f"model {model.name} has an option {name!r}, which is no Python name")
    found = [inspect.Parameter("model", inspect.Parameter.KEYWORD_ONLY, default=DEFAULT, annotation=argument)]
    for parameter in model.parameters:
        flag = f"--{parameter.name}"
        found.append(_option(parameter.name, str, SYMBOLIC, flag, metavar="N|symbolic", help=parameter.meaning))
    for option in model.options:
        if isinstance(option.default, bool):
            flags = f"--{option.name}/--no-{option.name}"
            found.append(_option(option.name, bool, option.default, flags, help=option.meaning))
        else:
            metavar = "|".join(option.choices) or option.metavar
            kind = str if option.default is not None else str | None
            found.append(
                _option(option.name, kind, option.default, f"--{option.name}", metavar=metavar, help=option.meaning)
            )
    return found


def _command_options(command: Command) -> list[inspect.Parameter]:
    found = []
    for setting in command.settings:
        if isinstance(setting.default, bool):
            found.append(_option(setting.argument, bool, setting.default, setting.flag, help=setting.meaning))
        elif setting.file:
            found.append(
                _option(setting.argument, Path | None, None, setting.flag, metavar="FILE", help=setting.meaning)
            )
        else:
            kind = int if setting.default is not None else int | None
            found.append(
                _option(
                    setting.argument,
                    kind,
                    setting.default,
                    setting.flag,
                    metavar="N",
                    min=setting.least,
                    help=setting.meaning,
                )
            )
    return found


def _shared_options(command: Command, model: Model) -> list[inspect.Parameter]:
    default = model.default_liveness if command.liveness else model.default_property
    found = [
        _option("claim", str, default or "", "--property", metavar="NAME", help="what to check"),
        _option(
            "time_limit", float | None, None, "--time-limit", metavar="SECONDS", help="then the verdict is unknown"
        ),
        _option("json", bool, False, "--json", help="print one JSON document"),
        _option("itf", Path | None, None, "--itf", metavar="FILE", help="write the run in the Informal Trace Format"),
        _option("show", list[str] | None, None, "--show", metavar="EXPR", help="add a column to the step table"),
    ]
    if command.shows_subrounds:
        found.append(_option("subrounds", bool, False, "--subrounds", help="show a row for each phase of a round"))
    return found
