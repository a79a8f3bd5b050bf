"""Progress on stderr: a line that renews itself on a terminal, else a new line every few seconds."""

from __future__ import annotations

import os
import sys
from time import monotonic

from fdverify.verdict import Progress

_EVERY_SECONDS = {True: 0.1, False: 5.0}


class ProgressLine:
    def __init__(self, command: str) -> None:
        self._command = command
        self._start = self._shown = monotonic()
        self._renews = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._open = False
        self.last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        now = monotonic()
        if now - self._shown < _EVERY_SECONDS[self._renews]:
            return
        self._shown = now
        states = "" if progress.states is None else f", {progress.states} states"
        line = f"{self._command}: depth {progress.depth}{states}, {now - self._start:.0f} s"
        sys.stderr.write(f"\r\x1b[K{line}" if self._renews else f"{line}\n")
        sys.stderr.flush()
        self._open = self._renews

    def close(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
