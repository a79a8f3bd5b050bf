"""The rows about the pytest plugin say what it adds, and compare with the command."""

from collections.abc import Sequence
from pathlib import Path

import plugin
import pytest
from commands import Cost


def test_the_rows_have_the_difference_and_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(programs: Sequence[Sequence[str | Path]], folder: Path, repeats: int) -> list[Cost]:
        return [Cost(number + 1, 1, 50) for number, _ in enumerate(programs)]

    monkeypatch.setattr(plugin, "_measure_in_turns", measure)
    _, with_it, alone, together = plugin.measure_plugin()
    assert (with_it.target, with_it.found) == ("+0.030 s", "+1.000 s")
    assert alone.found == "0.50 × `verify-invariant invariants`, in turns"
    assert together.times["seconds"] == 3


def test_programs_run_in_turns(tmp_path: Path) -> None:
    log = tmp_path / "log"
    programs = [("/bin/sh", "-c", f"echo {name} >> {log}") for name in ("one", "two")]
    assert len(plugin._measure_in_turns(programs, tmp_path, 2)) == 2
    assert log.read_text().split() == ["one", "two", "one", "two"]


def test_a_program_that_fails_has_no_time(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="exit code 1"):
        plugin._measure_in_turns([("/bin/false",)], tmp_path, 1)
