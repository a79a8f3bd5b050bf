"""How long threshold automata take, by driver."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from commands import ROOT, describe_document, format_row, measure_command
from large_automaton import generate_automaton

LIMIT = 30
DRIVERS = ("auto", "query", "search")


def measure_drivers() -> list[str]:
    """Measure each specification once by each driver: a row with seconds and memory."""
    with tempfile.TemporaryDirectory() as folder:
        return [_measure_specification(what, file, name) for what, file, name in _list_questions(Path(folder))]


def _list_questions(folder: Path) -> Iterator[tuple[str, Path, str]]:
    strb = ROOT / "examples" / "threshold" / "strb.ta"
    yield from (("reliable broadcast", strb, name) for name in ("unforgeability", "correctness", "relay"))
    yield "a ring of 80 messages that wait for each other", ROOT / "benchmarks" / "ring.ta", "silence"
    for locations, rules in ((30, 150), (100, 1300)):
        file = folder / f"large{locations}.ta"
        file.write_text(generate_automaton(locations, rules))
        for name in ("unforgeability", "agreement", "correctness", "relay"):
            yield f"generated, {locations} locations, {rules} rules, 10 guards", file, name


def _measure_specification(what: str, file: Path, name: str) -> str:
    question = ["threshold", "check", str(file), "--spec", name, "--time-limit", str(LIMIT)]
    runs = [measure_command("fdverify", [*question, "--driver", driver], repeats=1) for driver in DRIVERS]
    verdicts = [describe_document(run.document) for run in runs]
    cells = [
        f"over {LIMIT} s" if verdict == "unknown" else f"{run.cost.wall:.1f} s, {run.cost.memory} MB"
        for run, verdict in zip(runs, verdicts, strict=True)
    ]
    return format_row((what, name, verdicts[0], *cells))
