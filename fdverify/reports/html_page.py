"""An outcome as one self-contained HTML file: the JSON document, and a script that draws it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from fdverify.reports.documents import write_document
from fdverify.reports.outcome import Outcome
from fdverify.reports.step_table import render_text

_FOLDER = Path(__file__).with_name("html")
_SCRIPTS = ("base.js", "detector.js", "threshold.js", "viewer.js", "report.js")


def write_html(outcome: Outcome) -> str:
    return build_page(write_document(outcome.document), render_text(outcome.render, for_terminal=False))


def build_page(document: str, text: str = "") -> str:
    """Build the page from the JSON text of a document and the text that the terminal shows."""
    style = _read_asset("style.css")
    script = "\n".join(_read_asset(name) for name in _SCRIPTS)
    parts = {
        "policy": f"default-src 'none'; style-src {_compute_digest(style)}; script-src {_compute_digest(script)}",
        "style": style,
        "script": script,
        # No tag can start in the document, so none can end it; to a reader of JSON the text is the same.
        "document": document.replace("<", "\\u003c"),
        "text": json.dumps(text).replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: parts[hole[1]], _read_asset("page.html"))


def _read_asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _compute_digest(text: str) -> str:
    """Compute the hash by which the content security policy of the page allows this style or script only."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
