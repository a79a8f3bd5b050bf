"""Progress on stderr: on a terminal one line that is rewritten, else a new line every few seconds."""

from __future__ import annotations

import os
import sys
from time import monotonic

from fdverify.printable import make_printable

_EVERY_SECONDS = {True: 0.1, False: 5.0}


class ProgressLine:
    """A line that shows the progress of a command."""

    def __init__(self, command: str, silent: bool = False) -> None:
        self._command = command
        self._silent = silent
        self._start = self._shown = monotonic()
        self._renews = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._open = False

    def show(self, text: str) -> None:
        """Show a text, unless another was shown a moment ago."""
        now = monotonic()
        if self._silent or now - self._shown < _EVERY_SECONDS[self._renews]:
            return
        self._shown = now
        line = f"{make_printable(f'{self._command}: {text}')}, {now - self._start:.0f} s"
        sys.stderr.write(f"\r\x1b[K{line}" if self._renews else f"{line}\n")
        sys.stderr.flush()
        self._open = self._renews

    def close(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._open = False
