"""The command line of ``verify-invariant``.  It is built for each call, because the proofs decide its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from fdverify.cli.commands import build_action, call_app, write_epilog
from fdverify.cli.exit_codes import end_command
from fdverify.proofs.command import build_command
from fdverify.proofs.model_options import ModelOption, find_model_options

if TYPE_CHECKING:
    from fdverify.proofs.proof_result import ProofResult, ProofSuggestions
    from fdverify.proofs.proof_settings import ProofSettings


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    return end_command(lambda: _call_command(arguments))


def _call_command(arguments: Sequence[str]) -> Any:
    """Parse the line; if it has options that are not the command's own, add those of the proofs' models."""
    app = build_app()
    own = [flag for each in typer.main.get_command(app).params for flag in (*each.opts, *each.secondary_opts)]
    options = find_model_options(arguments, own)
    return call_app(build_app(options) if options else app, "verify-invariant", arguments)


def build_app(options: Sequence[ModelOption] = ()) -> typer.Typer:
    app = typer.Typer(
        add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
    )
    command = build_command(_suggest_conjuncts, options)
    app.command(help=command.help, epilog=write_epilog(command.examples, command.exits))(build_action(command))
    return app


def _suggest_conjuncts(
    results: Sequence[ProofResult], settings: ProofSettings, seconds: float | None, report: Callable[[str], None]
) -> list[ProofSuggestions]:
    from fdverify.invariant_search.conjunct_suggestions import suggest_conjuncts  # --help needs no solver

    return suggest_conjuncts(results, settings, seconds, report)
