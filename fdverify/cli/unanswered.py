"""The JSON document of a command that ended without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fdverify.reports.documents import Document, write_document


@dataclass(frozen=True, kw_only=True)
class UnansweredDocument(Document):
    """A command that ended without an answer: it reached the time limit, or its process was killed."""

    verdict: Literal["unknown"] = "unknown"
    detail: str
    seconds: float


def write_unanswered(name: str, arguments: Sequence[str], detail: str, seconds: float) -> str:
    command = arguments[0] if name == "fdverify" and not arguments[0].startswith("-") else name
    return write_document(UnansweredDocument(command=command, detail=detail, seconds=seconds))
