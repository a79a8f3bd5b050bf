"""What becomes of many texts, and how much memory that takes; run as a program, as memory is that of a process."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from fdverify.errors import SourceLocation, UsageError
from fdverify.threshold.text.diagram import format_mermaid
from fdverify.threshold.text.read import parse_automaton, read_automaton
from fdverify.threshold.text.write import write_automaton
from tests.sampling import choose
from tests.threshold.fuzz.changed import changed_bytes, changed_tokens
from tests.threshold.fuzz.grown import grown
from tests.threshold.fuzz.pathological import LARGEST, PATHOLOGICAL, READ

REFUSED = "refused"
COUNT = choose(full=4_000, sample=200)
"""Of each kind of texts."""

KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "changed bytes": changed_bytes,
    "changed tokens": changed_tokens,
    "grown": grown,
}


def outcome(path: Path, content: bytes) -> tuple[str, str]:
    """Read or refused, and why; anything else is a mistake."""
    path.write_bytes(content)
    try:
        automaton = read_automaton(path)
        if parse_automaton(write_automaton(automaton), "again") != automaton:
            return "reads back otherwise", ""
        if format_mermaid(automaton).count("-->|") != len(automaton.rules):
            return "drawn with other rules", ""
    except UsageError as error:
        if len(error.message.splitlines()) != 1 or not is_inside(content, error.place):
            return "refused without a place, or not in one line", str(error)
        return REFUSED, error.message
    except Exception as error:
        return type(error).__name__, str(error)
    return READ, ""


def is_inside(content: bytes, place: SourceLocation | None) -> bool:
    """Whether there is such a line and column in a text, or just after it."""
    if place is None or place.line is None or place.column is None:
        return False
    lines = content.decode("utf-8", errors="replace").split("\n")
    return 0 < place.line <= len(lines) and 0 < place.column <= len(lines[place.line - 1]) + 1


def peak() -> int:
    """In megabytes; what getrusage tells is no less than what the process that started this one had."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def main() -> None:
    found: dict[str, Counter[str]] = {}
    mistakes: list[tuple[str, ...]] = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "text.ta"
        for kind, make in KINDS.items():
            source = random.Random(kind)
            found[kind] = Counter()
            for _ in range(COUNT):
                content = make(source)
                what, why = outcome(path, content)
                found[kind][what] += 1
                if what not in (READ, REFUSED):
                    mistakes.append((what, why, repr(content)))
        for name, (text, expected) in choose(full=PATHOLOGICAL | LARGEST, sample=PATHOLOGICAL).items():
            what, why = outcome(path, text if isinstance(text, bytes) else text.encode())
            if what != (READ if expected == READ else REFUSED) or (expected != READ and expected not in why):
                mistakes.append((name, what, why))
    print(json.dumps({"outcomes": found, "mistakes": mistakes, "megabytes": peak()}))


if __name__ == "__main__":
    main()
