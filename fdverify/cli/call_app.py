"""The call of a command line, and the option ``--version``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from fdverify import __version__
from fdverify.models.loading import blame_user_file


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
