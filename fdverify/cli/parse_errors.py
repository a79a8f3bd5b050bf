"""The exception that typer raises for a command line that it cannot parse."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _find_parse_error() -> Any:
    """Find typer's own exception, or that of click, which older versions of typer use."""
    try:
        return import_module("typer.exceptions").TyperException
    except ImportError:
        return import_module("click.exceptions").ClickException


ParseError: Any = _find_parse_error()
