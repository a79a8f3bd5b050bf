"""The error that typer raises for a command line that it cannot read."""

from __future__ import annotations

from typing import Any

import typer


def _find_parse_error() -> Any:
    """Find the class of all such errors, which is typer's own, click's, or that of a copy of click in typer.

    Which of them depends on the version of typer.  ``typer.BadParameter`` is derived from it in all of them.
    """
    return next(each for each in reversed(typer.BadParameter.__mro__) if hasattr(each, "format_message"))


ParseError: Any = _find_parse_error()
