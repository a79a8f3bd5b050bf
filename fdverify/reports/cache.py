"""What is kept from run to run, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from rich.console import Console
from rich.table import Table

from fdverify import __version__
from fdverify.reports.document import formatted_schema
from fdverify.reports.safe_text import Text
from fdverify.reports.table import as_text
from fdverify.signing import Key
from fdverify.storage import Kept

SCHEMA = Path(__file__).with_name("cache_schema.json")
_MEANINGS = {
    "proved": "obligations that were proved",
    "map": "instances of maps that were explored",
    "passed": "authors' code that was checked",
    "unknown": "questions that no solver could answer",
}


def cache_text(root: Path, kept: Mapping[str, Sequence[Kept]], key: Key, cleared: bool) -> str:
    def show(console: Console) -> None:
        table = Table()
        for name in ("kind", "files", "kB", "are"):
            table.add_column(name, justify="right" if name in ("files", "kB") else "left")
        for kind, files in kept.items():
            table.add_row(kind, str(len(files)), f"{_size(files) / 1000:.1f}", _MEANINGS[kind])
        console.print(Text(f"{'removed from' if cleared else 'kept in'} {root}"), soft_wrap=True)
        console.print(table)
        trouble = "" if key.secret is not None else f"; not used: {key.trouble}"
        console.print(Text(f"signed by the key in {key.place}{trouble}"), soft_wrap=True)

    return as_text(show)


def _size(files: Sequence[Kept]) -> int:
    return sum(each.size for each in files)


class KeptEntry(msgspec.Struct):
    """How many files of a kind there are, and how many bytes they have together."""

    files: int
    bytes: int


class CacheDocument(msgspec.Struct):
    """What `fdverify cache` found, or removed."""

    tool: Literal["fdverify"]
    version: str
    command: Literal["cache"]
    exit_code: int
    folder: str
    cleared: bool
    kept: dict[str, KeptEntry]
    """By kind, as it was before it was removed."""
    key: str
    """Where the key is that signs."""
    key_trouble: str | None
    """Why the key is not used, and so nothing that is kept."""


def cache_document(root: Path, kept: Mapping[str, Sequence[Kept]], key: Key, cleared: bool) -> str:
    found = CacheDocument(
        tool="fdverify",
        version=__version__,
        command="cache",
        exit_code=0,
        folder=str(root),
        cleared=cleared,
        kept={kind: KeptEntry(len(files), _size(files)) for kind, files in kept.items()},
        key=key.place,
        key_trouble=None if key.secret is not None else key.trouble,
    )
    return json.dumps(msgspec.to_builtins(found), indent=2) + "\n"


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(CacheDocument)
