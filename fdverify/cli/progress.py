"""Progress on stderr: a line that renews itself on a terminal, else a new line every few seconds."""

from __future__ import annotations

import os
import sys
from time import monotonic
from typing import TYPE_CHECKING

from fdverify.printable import printable
from fdverify.verdict import Progress

if TYPE_CHECKING:
    from fdverify.proofs.check import Stage

_EVERY_SECONDS = {True: 0.1, False: 5.0}


class _Line:
    def __init__(self) -> None:
        self._start = self._shown = monotonic()
        self._renews = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._open = False

    def show(self, text: str) -> None:
        """Show it unless something was shown a moment ago."""
        now = monotonic()
        if now - self._shown < _EVERY_SECONDS[self._renews]:
            return
        self._shown = now
        line = f"{printable(text)}, {now - self._start:.0f} s"
        sys.stderr.write(f"\r\x1b[K{line}" if self._renews else f"{line}\n")
        sys.stderr.flush()
        self._open = self._renews

    def close(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class ProgressLine(_Line):
    """How deep an engine is."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self._command = command

    def __call__(self, progress: Progress) -> None:
        states = "" if progress.states is None else f", {progress.states} states"
        self.show(f"{self._command}: depth {progress.depth}{states}")


class TextLine(_Line):
    """What an engine says of itself."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self._command = command

    def __call__(self, text: str) -> None:
        self.show(f"{self._command}: {text}")


class CellLine(_Line):
    """How many cells of a map are done."""

    def __call__(self, done: int, total: int) -> None:
        self.show(f"map: {done} of {total} cells")


class StageLine(_Line):
    """How many obligations of each kind are done."""

    def __call__(self, stage: Stage) -> None:
        counts = [f"{kind} {stage.done[kind]}/{total}" for kind, total in stage.total.items()]
        self.show(f"verify-invariant: {', '.join(counts)}")
