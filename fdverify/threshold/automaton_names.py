"""Checks that names in automata are identifiers, are not reserved, and are declared once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from fdverify.errors import UsageError
from fdverify.logic import shorten_value

KEYWORDS = frozenset(
    (
        *("skel", "thresholdAutomaton", "threshAuto", "local", "shared", "parameters", "unknowns", "define"),
        *("assumptions", "locations", "inits", "rules", "specifications", "when", "do", "unchanged", "true", "false"),
    )
)
"""Reserved words of the text format."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def format_for_message(text: object) -> str:
    """Prepare a user's text for a message: shorten it, and escape control characters."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in shorten_value(text))


def check_name(owner: str, name: object, kind: str) -> str:
    """Refuse anything but an identifier that is not a keyword; ``kind`` says what the name is for."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        what = (
            repr(shorten_value(name))
            if isinstance(name, str)
            else f"{format_for_message(repr(name))}, which is not a string,"
        )
        raise UsageError(f"{owner}: {what} cannot be a name", f"a {kind} has a name of letters, digits and _")
    if name in KEYWORDS:
        raise UsageError(f"{owner}: {name} is a keyword, which cannot be a name")
    return name


def check_texts(owner: str, kind: str, texts: object) -> None:
    """Refuse anything but a sequence of strings."""
    # A single string is a sequence of strings, too: its letters.
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise UsageError(f"{owner}: {kind} is {format_for_message(repr(texts))}, but must be a list of strings")
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"{owner}: {kind} has {format_for_message(repr(text))}, which is not a string")


def check_table(owner: str, kind: str, table: object) -> None:
    """Refuse anything but a mapping from names to strings."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{owner}: {kind} is {format_for_message(repr(table))}, but must be a dict of strings")
    check_texts(owner, kind, [*table.values()])


def check_names(owner: str, declared: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Refuse invalid names and names that are declared twice; ``declared`` pairs each kind with its names."""
    kinds: dict[str, str] = {}
    for kind, names in declared:
        for name in names:
            check_name(owner, name, kind)
            if name in kinds:
                both = f"a {kind}" if kinds[name] == kind else f"a {kinds[name]} and a {kind}"
                raise UsageError(f"{owner}: {shorten_value(name)} is declared twice", f"it is {both}")
            kinds[name] = kind
