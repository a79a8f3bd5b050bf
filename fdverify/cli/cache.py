"""``fdverify cache``: what is remembered from run to run, how much of it there is, and a way to forget it."""

from __future__ import annotations

from typing import Annotated

import typer

from fdverify.cli.output import print_out
from fdverify.cli.shared import JsonOption
from fdverify.errors import UsageError

HELP = """Show where results are kept from run to run, how many there are, and which key signs them.

What was proved before is not proved again.  Entries are signed: what another key has signed, or none, is computed anew.
With --clear, all that is kept is removed; the key stays.
"""
EXAMPLES = ("fdverify cache", "fdverify cache --clear")
EXITS = "0 shown or removed, 2 bad input, 70 internal error"


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="remove all that is kept")] = False,
    json: JsonOption = False,
) -> int:
    from fdverify.reports.cache import cache_document, cache_text
    from fdverify.signing import find_key
    from fdverify.smt import cache_folder
    from fdverify.smt.cache import folder

    root = folder()
    before = cache_folder.contents(root)
    if clear:
        cache_folder.clear(root)
        left = sum(map(len, cache_folder.contents(root).values()))
        if left:
            raise UsageError(f"cannot remove {left} files below {root}", "do they belong to another user?")
    print_out((cache_document if json else cache_text)(root, before, find_key(), clear))
    return 0
