"""Parser of ByMC's text format, from text to syntax tree; errors have a line and a column."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from lark import Lark, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from fdverify.errors import SourceLocation, UsageError
from fdverify.logic import shorten_value

Node: TypeAlias = Any
"""A tree or a token of the parser; the type parameters of its classes do not help here."""

_LONGEST_FILE = 500_000
"""In bytes.  A parsed file takes up to five hundred times as much memory."""


@cache
def _build_parser() -> Lark:
    grammar = resources.files("fdverify.threshold.text").joinpath("grammar.lark").read_text()
    # The basic lexer reserves keywords everywhere, so a keyword is never taken for a name.
    return Lark(grammar, parser="lalr", lexer="basic", start=["start", "expression"], maybe_placeholders=False)


def read_text(path: Path) -> str:
    """Read a file; refuse one that is too long or not UTF-8."""
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    source = TextSource(path)
    if len(content) > _LONGEST_FILE:
        beginning = content[:_LONGEST_FILE].decode("utf-8", errors="replace")
        raise source.build_error_at(*_find_end(beginning), f"a file has at most {_LONGEST_FILE} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        raise source.build_error_at(*_find_end(before), "this is not UTF-8") from error


def _find_end(text: str) -> tuple[int, int]:
    """Return the line and the column at the end of a text."""
    return text.count("\n") + 1, len(text) - text.rfind("\n")


class TextSource:
    """The origin of a text: a file, or the name that error messages give to a text without a file."""

    def __init__(self, origin: Path | str) -> None:
        self._origin = origin

    def parse(self, text: str, start: str) -> Node:
        try:
            return _build_parser().parse(text, start=start)
        except UnexpectedInput as error:
            raise self._describe_unexpected(error, text) from error

    def _describe_unexpected(self, error: UnexpectedInput, text: str) -> UsageError:
        if isinstance(error, UnexpectedCharacters):
            comment = text.startswith("/*", error.pos_in_stream)
            what = "this comment does not end" if comment else f"{error.char!r} was not expected here"
            return self.build_error_at(error.line, error.column, what)
        assert isinstance(error, UnexpectedToken), "the parser has no other kind of error"
        token = error.token
        if token.type == "$END":
            return self.build_error_at(*_find_end(text), "the text ends too early")
        keyword = token.type != "NAME" and token.isidentifier() and "NAME" in error.expected
        reason = ": it is a keyword, which cannot be a name" if keyword else ""
        return self.build_error(token, f"{shorten_value(token)!r} was not expected here{reason}")

    def build_error(self, node: Node, what: str, hint: str | None = None) -> UsageError:
        """Build an error at the first token of a node."""
        first: Node = node
        while isinstance(first, Tree):
            first = first.children[0]
        return self.build_error_at(first.line, first.column, what, hint)

    def build_error_at(self, line: int, column: int, what: str, hint: str | None = None) -> UsageError:
        if isinstance(self._origin, Path):
            return UsageError(what, hint, SourceLocation(self._origin, line, column))
        return UsageError(f"{self._origin}:{line}:{column}: {what}", hint)
