"""The command line of ``fdverify``.  It is built for each call, because the model decides which options it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdverify.bounds.command import add_bounds
from fdverify.cache.command import CACHE
from fdverify.cli.commands import add_command, call_app, show_version, write_epilog
from fdverify.cli.exit_codes import end_command, find_parse_error
from fdverify.cli.options import OtherModel, choose_examples
from fdverify.configure.command import add_configure
from fdverify.cutoff.command import CUTOFF
from fdverify.detectors.model_catalogue import DEFAULT, SHIPPED, find_model, is_file_reference
from fdverify.errors import UsageError
from fdverify.invariant_search.command import build_infer
from fdverify.model_check.command import ENGINE_COMMANDS, build_command
from fdverify.scaffold import build_new_app
from fdverify.schemas import add_schema
from fdverify.sweep.command import build_map
from fdverify.threshold.command import add_threshold

if TYPE_CHECKING:
    from fdverify.detectors.product import Product

_WITHOUT_MODEL = ("configure", "cutoff", "threshold", "cache", "new", "schema")
EXAMPLES = ("fdverify bmc --timeout 'phi+delta+2'", "fdverify bmc --help")


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    return end_command(lambda: _dispatch_arguments(arguments or ["--help"]))


def _dispatch_arguments(arguments: Sequence[str]) -> Any:
    """Parse with the options of the model that the line seems to name, and again if it names another."""
    if arguments[0] in _WITHOUT_MODEL:
        products = list_products() if arguments[0] == "configure" else ()
        return call_app(_build_app_without_model(products), "fdverify", arguments)
    reference = _guess_model(arguments)
    try:
        find_model(reference)
    except UsageError as wrong:
        # Perhaps the word was an option's value.  If the line does not parse without it, it was meant as a model.
        try:
            return _call_command(DEFAULT, arguments)
        except OtherModel as other:
            return _call_command(other.reference, arguments)
        except find_parse_error():
            raise wrong from None
    try:
        return _call_command(reference, arguments)
    except OtherModel as other:
        return _call_command(other.reference, arguments)


def list_products() -> tuple[Product, ...]:
    """List the products, which are loaded only for the command that is about them."""
    from fdverify.detectors.product_catalogue import load_products

    return load_products()


def _call_command(reference: str, arguments: Sequence[str]) -> Any:
    return call_app(build_app(reference), "fdverify", arguments)


def _guess_model(arguments: Sequence[str]) -> str:
    """Return the first word that looks like a model.  Before the model is known, a value may look like one."""
    named = (word for word in arguments if word in SHIPPED or is_file_reference(word))
    return next(named, DEFAULT)


def build_app(reference: str, products: Sequence[Product] = ()) -> typer.Typer:
    """Build the whole command line, with the options of a model, and a command for each of these products."""
    model = find_model(reference)
    app = _build_empty_app(choose_examples(reference, EXAMPLES))
    for engine in ENGINE_COMMANDS:
        add_command(app, build_command(engine, reference, model))
    add_bounds(app, reference, model)
    add_command(app, build_infer(reference, model))
    add_command(app, build_map(reference, model))
    _add_commands_without_model(app, products)
    return app


def _build_app_without_model(products: Sequence[Product]) -> typer.Typer:
    app = _build_empty_app(EXAMPLES)
    _add_commands_without_model(app, products)
    return app


def _build_empty_app(examples: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        help="Verify failure detectors under partial synchrony.",
        epilog=write_epilog(examples),
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_accept_version_option)
    return app


def _add_commands_without_model(app: typer.Typer, products: Sequence[Product]) -> None:
    """Add the commands that are not about a model of a detector: ``_WITHOUT_MODEL`` names them."""
    add_configure(app, products)
    add_command(app, CUTOFF)
    add_threshold(app)
    add_command(app, CACHE)
    app.add_typer(build_new_app(), name="new")
    add_schema(app)


def _accept_version_option(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """Accept the options that stand before a command."""
