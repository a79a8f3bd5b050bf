"""Names that texts and solvers take for nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from fdverify.errors import UsageError
from fdverify.logic import shortened

KEYWORDS = frozenset(
    (
        *("skel", "thresholdAutomaton", "threshAuto", "local", "shared", "parameters", "unknowns", "define"),
        *("assumptions", "locations", "inits", "rules", "specifications", "when", "do", "unchanged", "true", "false"),
    )
)
"""What the text format takes for itself, wherever it stands."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def shown(text: object) -> str:
    """An author's text in a message: short, and without characters that a terminal would obey."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in shortened(text))


def check_name(owner: str, name: object, kind: str) -> str:
    """Refuse what is no name, with the kind of thing that should have one."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        what = repr(shortened(name)) if isinstance(name, str) else f"{shown(repr(name))}, which is no text,"
        raise UsageError(f"{owner}: {what} cannot be a name", f"a {kind} has a name of letters, digits and _")
    if name in KEYWORDS:
        raise UsageError(f"{owner}: {name} is a keyword, which cannot be a name")
    return name


def check_texts(owner: str, kind: str, texts: object) -> None:
    """Refuse what is no list of texts; a single text would be taken for its letters."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise UsageError(f"{owner}: {kind} is {shown(repr(texts))}, and a list of texts is needed")
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"{owner}: {kind} has {shown(repr(text))}, which is no text")


def check_table(owner: str, kind: str, table: object) -> None:
    """Refuse what is no table of texts by name."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{owner}: {kind} is {shown(repr(table))}, and a dict of texts is needed")
    check_texts(owner, kind, [*table.values()])


def check_names(owner: str, declared: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Refuse what is no name, and names that two things have; kinds come with their names."""
    kinds: dict[str, str] = {}
    for kind, names in declared:
        for name in names:
            check_name(owner, name, kind)
            if name in kinds:
                both = f"a {kind}" if kinds[name] == kind else f"a {kinds[name]} and a {kind}"
                raise UsageError(f"{owner}: {shortened(name)} is declared twice", f"it is {both}")
            kinds[name] = kind
