"""The application: built anew for each call, because the model that is named decides which options there are."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fdverify.cli import bounds, cache, cutoff, infer, map
from fdverify.cli.commands import COMMANDS, Command
from fdverify.cli.epilog import epilog
from fdverify.cli.guard import call_app, guarded, show_version
from fdverify.cli.new import new_app
from fdverify.cli.options import (
    OtherModel,
    action,
    examples_for,
    html_option,
    json_option,
    model_options,
    option,
    property_option,
    time_limit_option,
)
from fdverify.cli.output import SYMBOLIC, number_or_symbolic
from fdverify.cli.parse_errors import ParseError
from fdverify.cli.perform import Output, perform
from fdverify.cli.threshold import threshold_app
from fdverify.errors import UsageError
from fdverify.job import Job
from fdverify.models.catalogue import DEFAULT, SHIPPED, find_model, is_file_reference
from fdverify.models.model import Model

EXAMPLES = ("fdverify bmc --timeout 'phi+delta+2'", "fdverify bmc --help")


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
        except OtherModel as other:
            return _call(other.reference, arguments)
        except ParseError:
            raise wrong from None
    try:
        return _call(reference, arguments)
    except OtherModel as other:
        return _call(other.reference, arguments)


def _call(reference: str, arguments: Sequence[str]) -> Any:
    return call_app(build_app(reference), "fdverify", arguments)


def _named_model(arguments: Sequence[str]) -> str:
    """The first word that looks like a model: which words are options' values is known only with its options."""
    named = (word for word in arguments if word in SHIPPED or is_file_reference(word))
    return next(named, DEFAULT)


def build_app(reference: str) -> typer.Typer:
    model = find_model(reference)
    app = typer.Typer(
        help="Verify failure detectors under partial synchrony.",
        epilog=epilog(*examples_for(reference, EXAMPLES)),
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_version)
    for command in COMMANDS:
        app.command(command.name, help=command.help, epilog=epilog(*examples_for(reference, command.examples)))(
            _action(command, reference, model)
        )
    app.add_typer(bounds.bounds_app(reference, model), name="bounds")
    app.command("infer", help=infer.HELP, epilog=epilog(*examples_for(reference, infer.EXAMPLES)))(
        infer.infer_action(reference, model)
    )
    app.command("map", help=map.HELP, epilog=epilog(*examples_for(reference, map.EXAMPLES), exits=map.EXITS))(
        map.map_action(reference, model)
    )
    app.command("cutoff", help=cutoff.HELP, epilog=epilog(*cutoff.EXAMPLES, exits=cutoff.EXITS))(cutoff.cutoff)
    app.add_typer(threshold_app(), name="threshold")
    app.command("cache", help=cache.HELP, epilog=epilog(*cache.EXAMPLES, exits=cache.EXITS))(cache.cache)
    app.add_typer(new_app(), name="new")
    return app


def _version(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """The options before a command."""


def _action(command: Command, reference: str, model: Model) -> Any:
    """What a command does, with the model's options, the command's and the shared ones."""

    def do(given: dict[str, Any]) -> int:
        job = Job(
            command=command.name,
            model=reference,
            parameters={p.name: number_or_symbolic(p.name, given[p.name]) for p in model.parameters},
            options={option.name: given[option.name] for option in model.options},
            claim=given["claim"],
            settings={setting.argument: given[setting.argument] for setting in command.settings},
        )
        output = Output(given["json"], given["html"], given["itf"], tuple(given["show"] or ()), given["subrounds"])
        return perform(job, given["time_limit"], output)

    own = model_options(model, "N|symbolic", SYMBOLIC)
    return action(reference, model, [*own, *_command_options(command), *_shared_options(command, model)], do)


def _command_options(command: Command) -> list[inspect.Parameter]:
    found = []
    for setting in command.settings:
        if isinstance(setting.default, bool):
            found.append(option(setting.argument, bool, setting.default, setting.flag, help=setting.meaning))
        elif setting.file:
            found.append(
                option(setting.argument, Path | None, None, setting.flag, metavar="FILE", help=setting.meaning)
            )
        else:
            kind = int if setting.default is not None else int | None
            found.append(
                option(
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
    found = [
        property_option(model.default_liveness if command.liveness else model.default_property),
        time_limit_option("then the verdict is unknown"),
        json_option(),
        html_option(),
        option("itf", Path | None, None, "--itf", metavar="FILE", help="write the run in the Informal Trace Format"),
        option("show", list[str] | None, None, "--show", metavar="EXPR", help="add a column to the step table"),
    ]
    if command.shows_subrounds:
        found.append(option("subrounds", bool, False, "--subrounds", help="show a row for each phase of a round"))
    return found
