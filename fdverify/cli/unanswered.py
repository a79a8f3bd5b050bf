"""What is said of a command that ended without an answer, for machines: the schema ships with the package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from fdverify import __version__

SCHEMA = Path(__file__).parents[1] / "reports" / "unanswered_schema.json"


def unanswered_document(name: str, arguments: Sequence[str], detail: str, seconds: float) -> str:
    command = arguments[0] if name == "fdverify" and not arguments[0].startswith("-") else name
    document = {
        "tool": "fdverify",
        "version": __version__,
        "command": command,
        "verdict": "unknown",
        "detail": detail,
        "seconds": round(seconds, 3),
    }
    return json.dumps(document) + "\n"
