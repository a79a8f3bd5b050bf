"""``fdverify schema``: print the JSON Schemas of the documents, computed from their types."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from fdverify.cli.commands import write_epilog
from fdverify.cli.output import print_answer
from fdverify.errors import UsageError, suggest_name
from fdverify.model_check.command import ENGINE_COMMANDS

_HELP = """Print the JSON Schema of the document that a command prints with --json.

Without a name, list the names.
"""
DOCUMENTS = {
    "check": ("fdverify.model_check.report", "CheckDocument"),
    "proofs": ("fdverify.proofs.proof_document", "ProofDocument"),
    "bounds": ("fdverify.bounds.report", "BoundsDocument"),
    "configuration": ("fdverify.bounds.report", "ConfigurationDocument"),
    "product": ("fdverify.configure.report", "ProductDocument"),
    "products": ("fdverify.configure.report", "ProductsDocument"),
    "map": ("fdverify.sweep.report", "MapDocument"),
    "cutoff": ("fdverify.cutoff.report", "CutoffDocument"),
    "threshold": ("fdverify.threshold.report", "ThresholdDocument"),
    "threshold-table": ("fdverify.threshold.report", "TablesDocument"),
    "cache": ("fdverify.cache.report", "CacheDocument"),
    "unanswered": ("fdverify.reports.documents", "UnansweredDocument"),
}
"""The module and the name of each document's type."""
_COMMANDS = {
    "check": ", ".join([*(engine.name for engine in ENGINE_COMMANDS), "infer"]),
    "proofs": "verify-invariant",
    "bounds": "bounds accuracy, bounds detection",
    "configuration": "bounds",
    "product": "configure PRODUCT",
    "products": "configure",
    "threshold": "threshold check",
    "threshold-table": "threshold table",
    "unanswered": "every command that ends without an answer",
}


def add_schema(app: typer.Typer) -> None:
    app.command(
        "schema",
        help=_HELP,
        epilog=write_epilog(["fdverify schema proofs"], "0 printed, 2 bad input, 70 internal error"),
    )(_print_schema)


def _print_schema(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="the name of a document")] = None,
) -> int:
    if name is None:
        print_answer("".join(f"{each}: {_COMMANDS.get(each, each)}\n" for each in DOCUMENTS))
    else:
        print_answer(find_schema(name))
    return 0


def find_schema(name: str) -> str:
    """Return the schema of the document with this name."""
    from fdverify.reports.documents import write_schema

    if name not in DOCUMENTS:
        raise UsageError(f"there is no document {name}", suggest_name(name, DOCUMENTS))
    module, kind = DOCUMENTS[name]
    return write_schema(getattr(import_module(module), kind))
