"""How soon ``verify-invariant --watch`` answers: a conjunct of a proof is changed, what was proved before is cached."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from commands import ROOT
from comparison import Row

_PROOF = "strong_accuracy.py"
_CONJUNCT = "return s.timeout >= 6 * s.phi + s.delta"
_CHANGED = "return And(s.phi > -{}, s.timeout >= 6 * s.phi + s.delta)"
_REPEATS = 5


def measure_watch() -> list[Row]:
    """Measure the wall time from a save to the answer."""
    return [Row(f"watch: one conjunct changed, {_PROOF}", {"seconds": min(_time_answers())}, target="1 s")]


def _time_answers() -> list[float]:
    """Return the seconds from each save to the line that tells what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(shutil.copy(ROOT / "invariants" / _PROOF, folder))
        text = file.read_text()
        assert text.count(_CONJUNCT) == 1
        with subprocess.Popen(
            [Path(sys.executable).with_name("verify-invariant"), file, "--watch"],
            env={**os.environ, "XDG_CACHE_HOME": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            times = []
            for number in range(1, _REPEATS + 1):
                start = perf_counter()
                file.write_text(text.replace(_CONJUNCT, _CHANGED.format(number)))
                assert b"proved" in process.stdout.readline()
                times.append(perf_counter() - start)
            process.terminate()  # an interrupt is ignored where the benchmarks run in the background
    return times
