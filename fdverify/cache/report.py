"""The contents of the cache: the document, and the table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from fdverify.cache.signed_records import StoredFile
from fdverify.cache.signing import SigningKey
from fdverify.reports.documents import Document
from fdverify.reports.outcome import Outcome
from fdverify.reports.safe_text import Text

_MEANINGS = {
    "proved": "proved obligations",
    "checked": "proofs that were proved",
    "map": "explored instances of maps",
    "passed": "checked code of authors",
    "unknown": "questions that no solver could decide",
}


@dataclass(frozen=True)
class KeptFiles:
    """The number of files of a kind, and their total size in bytes."""

    files: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class CacheDocument(Document):
    """The contents of the cache, which ``fdverify cache`` shows or removes."""

    command: Literal["cache"] = "cache"
    exit_code: Literal[0] = 0
    folder: Path
    cleared: bool
    kept: Mapping[str, KeptFiles]
    """The files of each kind, before they were removed."""
    key: str
    """The place of the signing key."""
    key_trouble: str | None
    """The reason why the key, and so the cache, is not used."""


def report_cache(root: Path, kept: Mapping[str, Sequence[StoredFile]], key: SigningKey, cleared: bool) -> Outcome:
    document = CacheDocument(
        folder=root,
        cleared=cleared,
        kept={kind: KeptFiles(len(files), sum(each.size for each in files)) for kind, files in kept.items()},
        key=key.place,
        key_trouble=None if key.secret is not None else key.trouble,
    )
    return Outcome(document.exit_code, document, partial(_render_cache, document))


def _render_cache(document: CacheDocument, console: Console) -> None:
    table = Table()
    for name in ("kind", "files", "kB", "contents"):
        table.add_column(name, justify="right" if name in ("files", "kB") else "left")
    for kind, kept in document.kept.items():
        table.add_row(kind, str(kept.files), f"{kept.bytes / 1000:.1f}", _MEANINGS[kind])
    console.print(Text(f"{'removed from' if document.cleared else 'kept in'} {document.folder}"), soft_wrap=True)
    console.print(table)
    trouble = "" if document.key_trouble is None else f"; not used: {document.key_trouble}"
    console.print(Text(f"signed by the key in {document.key}{trouble}"), soft_wrap=True)
