"""Text for the terminal in which what names contain is shown and never done."""

from __future__ import annotations

from typing import Any

import rich.text

from fdverify.printable import printable


class Text(rich.text.Text):
    """A line of text; controls in it, line breaks too, are spelt out."""

    def __init__(self, text: str = "", style: Any = "", **settings: Any) -> None:
        super().__init__(printable(text), style, **settings)

    def append(self, text: Any, style: Any = None) -> Any:
        return super().append(printable(text) if isinstance(text, str) else text, style)


def stacked(parts: list[str]) -> rich.text.Text:
    """Parts of a name below each other."""
    return rich.text.Text("\n".join(map(printable, parts)))
