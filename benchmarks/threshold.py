"""How long threshold automata take, by driver."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from commands import ROOT, measured
from large_automaton import large_automaton

LIMIT = 30
DRIVERS = ("auto", "query", "search")


def threshold_lines() -> list[str]:
    """A row for each specification: seconds and memory of each driver."""
    with tempfile.TemporaryDirectory() as folder:
        return [_row(what, file, name) for what, file, name in _questions(Path(folder))]


def _questions(folder: Path) -> Iterator[tuple[str, Path, str]]:
    strb = ROOT / "examples" / "threshold" / "strb.ta"
    yield from (("reliable broadcast", strb, name) for name in ("unforgeability", "correctness", "relay"))
    yield "a ring of 80 messages that wait for each other", ROOT / "benchmarks" / "ring.ta", "silence"
    for locations, rules in ((30, 150), (100, 1300)):
        file = folder / f"large{locations}.ta"
        file.write_text(large_automaton(locations, rules))
        for name in ("unforgeability", "agreement", "correctness", "relay"):
            yield f"generated, {locations} locations, {rules} rules, 10 guards", file, name


def _row(what: str, file: Path, name: str) -> str:
    question = ["threshold", "check", str(file), "--spec", name, "--time-limit", str(LIMIT)]
    runs = [measured("fdverify", [*question, "--driver", driver], repeats=1) for driver in DRIVERS]
    cells = [f"over {LIMIT} s" if run.verdict == "unknown" else f"{run.wall:.1f} s, {run.memory} MB" for run in runs]
    return f"| {what} | {name} | {runs[0].verdict} | {' | '.join(cells)} |"
