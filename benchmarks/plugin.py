"""What the pytest plugin costs: those who have no proofs, and those who have."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from commands import ROOT

_REPEATS_OF_NOTHING = 15
_REPEATS_OF_PROOFS = 3
# Another plugin that is installed here and takes longer than all else.
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")


def plugin_lines() -> list[str]:
    without, with_it = _of_nothing()
    alone, together = (_best(("invariants", "--fdverify-no-cache", *xdist)) for xdist in ((), ("-n", "2")))
    return [
        f"| one test and no proof, without the plugin | {without:.3f} | – |",
        f"| one test and no proof, with the plugin | {with_it:.3f} | {with_it - without:+.3f}, target 0.030 |",
        f"| `pytest invariants` | {alone:.2f} | – |",
        f"| `pytest invariants -n 2` | {together:.2f} | – |",
    ]


def _of_nothing() -> tuple[float, float]:
    """In turns, so that both have the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        times = [(_seconds(("-p", "no:fdverify"), folder), _seconds((), folder)) for _ in range(_REPEATS_OF_NOTHING)]
    return min(without for without, _ in times), min(with_it for _, with_it in times)


def _best(arguments: Sequence[str]) -> float:
    return min(_seconds(arguments, ROOT) for _ in range(_REPEATS_OF_PROOFS))


def _seconds(arguments: Sequence[str], folder: str | Path) -> float:
    start = perf_counter()
    subprocess.run([*_PYTEST, *arguments], cwd=folder, env=os.environ, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start
