"""``fdverify cache``: show or clear the results that are stored between runs."""

from __future__ import annotations

from typing import Annotated

import typer

from fdverify.cli.commands import Command, Request
from fdverify.errors import UsageError
from fdverify.reports.outcome import Outcome

HELP = """Show where results are stored between runs, how many there are, and which key signs them.

A stored result is not computed again.  Entries are signed: an entry without a signature, or with that of another key,
is ignored.  With --clear, all entries are removed; the key stays.
"""
EXAMPLES = ("fdverify cache", "fdverify cache --clear")
EXITS = "0 shown or removed, 2 bad input, 70 internal error"


def _compute_cache(
    request: Request, *, clear: Annotated[bool, typer.Option("--clear", help="remove all entries")] = False
) -> Outcome:
    from fdverify.cache import cache_folder
    from fdverify.cache.cache_folder import get_cache_folder
    from fdverify.cache.report import report_cache
    from fdverify.cache.signing import find_key

    root = get_cache_folder()
    before = cache_folder.list_contents(root)
    if clear:
        cache_folder.clear_folder(root)
        left = sum(map(len, cache_folder.list_contents(root).values()))
        if left:
            raise UsageError(f"cannot remove {left} files below {root}", "do they belong to another user?")
    return report_cache(root, before, find_key(), clear)


CACHE = Command(name="cache", help=HELP, compute=_compute_cache, examples=EXAMPLES, exits=EXITS, time_limit=None)
