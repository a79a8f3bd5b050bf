"""Commands: the declaration of a command, the options that all commands share, and how a command is run.

A command only computes an outcome.  This module checks its options, measures its time and delivers its outcome.
The switches of all commands are the fields of ``Outputs``, and the formats of files are in ``reports/formats.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer

from fdverify import __version__
from fdverify.cli.deliver import Outputs, deliver
from fdverify.cli.options import build_option
from fdverify.cli.output import ProgressLine, check_reports, check_time_limit
from fdverify.cli.streams import reserve_stdout
from fdverify.cli.worker_options import list_worker_options, read_worker_settings
from fdverify.errors import UsageError
from fdverify.models.loading import blame_user_file
from fdverify.reports.formats import FORMATS, FileFormat
from fdverify.workers.backends import WorkerSettings

if TYPE_CHECKING:
    from fdverify.reports.outcome import Outcome

SWITCHES = [each for each in fields(Outputs) if "flags" in each.metadata]
EXITS = "0 proved or bounded, 1 violated, 2 bad input, 3 unknown, 4 vacuous, 70 internal error"


@dataclass(frozen=True)
class Request:
    """The input of every command besides its own options."""

    progress: ProgressLine
    time_limit: float | None
    outputs: Outputs
    started: float
    workers: WorkerSettings = field(default_factory=WorkerSettings)
    """Who does what a command fans out."""

    def measure_seconds(self) -> float:
        return monotonic() - self.started

    @property
    def deadline(self) -> float | None:
        return None if self.time_limit is None else self.started + self.time_limit


@dataclass(frozen=True)
class Command:
    """A command.  ``compute`` takes a request and the command's own options, listed by its signature or ``options``."""

    name: str
    help: str
    compute: Callable[..., Outcome]
    examples: Sequence[str] = ()
    exits: str = EXITS
    options: Sequence[inspect.Parameter] | None = None
    shows_runs: bool = False
    has_places: bool = False
    """Whether the claims that it checks have a place in a source file."""
    time_limit: str | None = "stop after this time; what is undecided is then unknown"
    """The help text of ``--time-limit``; ``None`` if the command has no such option."""
    fans_out: bool = False
    """Whether it has many tasks for worker processes, which may be those of a cluster."""

    def list_formats(self) -> list[FileFormat]:
        made_of = {"document": True, "runs": self.shows_runs, "findings": self.has_places}
        return [each for each in FORMATS if made_of[each.made_of]]


def add_command(app: typer.Typer, command: Command) -> None:
    """Add a command to an application under the last word of its name."""
    app.command(command.name.split()[-1], help=command.help, epilog=write_epilog(command.examples, command.exits))(
        build_action(command)
    )


def add_group(app: typer.Typer, command: Command) -> typer.Typer:
    """Add a command that also has subcommands; return the group to add these to."""
    act = build_action(command)

    def call_action(ctx: typer.Context, **given: Any) -> int | None:
        return act(**given) if ctx.invoked_subcommand is None else None

    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    options = inspect.signature(act).parameters.values()
    call_action.__signature__ = inspect.Signature([context, *options])  # type: ignore[attr-defined]
    group = typer.Typer(
        help=command.help,
        epilog=write_epilog(command.examples, command.exits),
        invoke_without_command=True,
        rich_markup_mode=None,
    )
    group.callback()(call_action)
    app.add_typer(group, name=command.name)
    return group


def build_action(command: Command) -> Callable[..., int]:
    """Build the function that typer calls: its signature lists the command's own options and the shared ones."""
    own = list_own_options(command)
    shared = list_shared_options(command)
    names = [option.name for option in own]
    taken = sorted({name for name in names if names.count(name) > 1 or name in [each.name for each in shared]})
    if taken:
        raise UsageError(f"{command.name}: two options are called {taken[0]}", "rename the option of the model")

    def run_action(**given: Any) -> int:
        return _run_command(command, {name: given[name] for name in names}, given)

    run_action.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    return run_action


def list_own_options(command: Command) -> list[inspect.Parameter]:
    if command.options is not None:
        return list(command.options)
    parameters = inspect.signature(command.compute).parameters.values()
    own = [each for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]
    # Annotations are strings; those of other parameters may use names that are imported for type checkers only.
    names = inspect.unwrap(command.compute).__globals__
    return [each.replace(annotation=eval(each.annotation, names)) for each in own]


def list_shared_options(command: Command) -> list[inspect.Parameter]:
    """List the options that a command shares with the others."""
    limit = command.time_limit
    return [
        *(list_worker_options() if command.fans_out else []),
        *(
            []
            if limit is None
            else [build_option("time_limit", float | None, None, "--time-limit", metavar="SECONDS", help=limit)]
        ),
        *(
            build_option(each.name, bool, False, *each.metadata["flags"], help=each.metadata["help"])
            for each in SWITCHES
        ),
        *(
            build_option(each.name, Path | None, None, each.flag, metavar="FILE", help=each.help)
            for each in command.list_formats()
        ),
    ]


def _run_command(command: Command, own: Mapping[str, Any], given: Mapping[str, Any]) -> int:
    """Check the options, compute the outcome, deliver it, and return the exit code."""
    started = monotonic()
    files = {each: given[each.name] for each in command.list_formats() if given[each.name] is not None}
    workers = read_worker_settings(given) if command.fans_out else WorkerSettings()
    certificates = [] if workers.cluster is None else workers.cluster.list_tls_files().values()
    check_reports({each.flag: path for each, path in files.items()}, *_list_paths(own.values()), *certificates)
    time_limit = given.get("time_limit")
    check_time_limit(time_limit)
    outputs = Outputs(files=files, **{each.name: given[each.name] for each in SWITCHES})
    progress = ProgressLine(command.name, silent=outputs.quiet)
    try:
        with reserve_stdout():
            outcome = command.compute(Request(progress, time_limit, outputs, started, workers), **own)
    finally:
        progress.close()
    return deliver(outcome, outputs)


def _list_paths(values: Iterable[Any]) -> list[Path]:
    """List the files that options name; a report must not overwrite them."""
    several = (value if isinstance(value, list | tuple) else [value] for value in values)
    return [each for values in several for each in values if isinstance(each, Path)]


def write_epilog(examples: Sequence[str], exits: str = EXITS) -> str:
    """Write the end of a command's help: examples, which work in the root of the repository, and the exit codes."""
    ending = f"Exit codes: {exits}."
    # A lone backspace keeps the formatter from filling the lines.
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in examples), "", ending]) if examples else ending


def call_app(app: typer.Typer, name: str, arguments: Sequence[str]) -> Any:
    """Parse the arguments and run the command.

    Typer's own call would turn exceptions into exit codes of its own, such as 1 if nobody reads stdout.
    """
    command = typer.main.get_command(app)
    try:
        with command.make_context(name, list(arguments)) as context:
            return command.invoke(context)
    except typer.Exit as end:
        blamed = blame_user_file(end)
        if blamed is not None:
            raise blamed from end
        return end.exit_code


def show_version(wanted: bool) -> None:
    """Print the version and exit, if the option ``--version`` is given."""
    if wanted:
        print(f"fdverify {__version__}")
        raise typer.Exit
