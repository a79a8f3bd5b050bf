"""Conjuncts that were suggested, for people: ready to be pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from fdverify.errors import nearby
from fdverify.reports.safe_text import Text

if TYPE_CHECKING:
    from fdverify.discovery.suggest.suggest import Suggested, Suggestion


def print_suggested(console: Console, suggested: Suggested) -> None:
    name = suggested.path.stem
    if suggested.remark:
        console.print(Text(f"suggest: {name}: {suggested.remark}"), soft_wrap=True)
    for number, suggestion in enumerate(suggested.found):
        console.print(Text(f"suggest: {'or ' if number else ''}{_words(suggested, suggestion)}:"), soft_wrap=True)
        needed = "; ".join(suggestion.imports)
        console.print(Text(f"  needs: {needed}", style="dim"), soft_wrap=True)
        for conjunct in suggestion.conjuncts:
            for line in conjunct.source.splitlines():
                console.print(Text(f"  {line}"), soft_wrap=True)
    console.print()


def _words(suggested: Suggested, suggestion: Suggestion) -> str:
    these = "this conjunct" if len(suggestion.conjuncts) == 1 else f"these {len(suggestion.conjuncts)} conjuncts"
    if suggestion.proves:
        return f"add {these}, and the invariant of {nearby(suggested.path)} is inductive and implies the goal"
    unproved = suggestion.unproved
    left = "1 obligation is" if len(unproved) == 1 else f"{len(unproved)} obligations are"
    return f"{these} may help, but then {left} still not proved ({', '.join(unproved)})"
