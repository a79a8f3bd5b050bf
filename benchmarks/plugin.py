"""What the pytest plugin costs: those who have no proofs, and those who have."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from commands import ROOT, Cost, choose_best, find_script, run_process
from comparison import Row, build_row

_REPEATS_OF_NOTHING = 15
_REPEATS_OF_PROOFS = 3
# Another plugin that is installed here and takes longer than all else.
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
_PROOFS = (*_PYTEST, "invariants", "--fdverify-no-cache")


def measure_plugin() -> list[Row]:
    """Measure whole runs of pytest."""
    without, with_it = _measure_empty_runs()
    alone, command, together = _measure_in_turns(
        (_PROOFS, (find_script("verify-invariant"), "invariants", "--no-cache"), (*_PROOFS, "-n", "2")),
        ROOT,
        _REPEATS_OF_PROOFS,
    )
    ratio = f"{alone.wall / command.wall:.2f} × `verify-invariant invariants`, in turns"
    return [
        build_row("one test and no proof, without the plugin", without),
        build_row(
            "one test and no proof, with the plugin", with_it, "+0.030 s", f"{with_it.wall - without.wall:+.3f} s"
        ),
        build_row("`pytest invariants`", alone, "1.3 ×", ratio),
        build_row("`pytest invariants -n 2`", together),
    ]


def _measure_empty_runs() -> list[Cost]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        return _measure_in_turns(((*_PYTEST, "-p", "no:fdverify"), _PYTEST), Path(folder), _REPEATS_OF_NOTHING)


def _measure_in_turns(programs: Sequence[Sequence[str | Path]], folder: Path, repeats: int) -> list[Cost]:
    """Measure programs in turns, so that all have the same machine."""
    rounds = [[_measure_success(program, folder) for program in programs] for _ in range(repeats)]
    return [choose_best(costs) for costs in zip(*rounds, strict=True)]


def _measure_success(program: Sequence[str | Path], folder: Path) -> Cost:
    done = run_process(program, folder)
    if done.code != 0:
        raise RuntimeError(f"{program} ended with exit code {done.code}")
    return done.cost
