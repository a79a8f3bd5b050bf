"""Text for the terminal in which control characters are escaped."""

from __future__ import annotations

from typing import Any

import rich.text

from fdverify.printable import make_printable


class Text(rich.text.Text):
    """A line of text in which control characters, including line breaks, are escaped."""

    def __init__(self, text: str = "", style: Any = "", **settings: Any) -> None:
        super().__init__(make_printable(text), style, **settings)

    def append(self, text: Any, style: Any = None) -> Any:
        return super().append(make_printable(text) if isinstance(text, str) else text, style)


def stack_words(parts: list[str]) -> rich.text.Text:
    """Put the parts of a name below each other."""
    return rich.text.Text("\n".join(map(make_printable, parts)))
