"""Slips in rounds: the lemmas are shown of what the rounds do, or the rounds are refused with their place."""

import re
from pathlib import Path

import pytest

from tests.no_wrong_answers.models.commands import run_command
from tests.no_wrong_answers.models.round_slips import HONEST_ROUNDS, ROUND_SLIPS
from tests.sampling import every


@pytest.mark.parametrize("name", every(5, sorted(ROUND_SLIPS)))
def test_a_slip_in_rounds_is_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "rounds_of_it.py"
    file.write_text(ROUND_SLIPS[name])
    code, _, stderr = run_command("fdverify.app", ["cutoff", f"{file}:TEMPLATE"])
    assert (code, bool(re.search(r"rounds_of_it\.py:\d+", stderr))) == (2, True), stderr


@pytest.mark.parametrize("name", every(4, sorted(HONEST_ROUNDS)))
def test_rounds_without_a_slip_are_not_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "rounds_of_it.py"
    file.write_text(HONEST_ROUNDS[name])
    code, _, stderr = run_command("fdverify.app", ["cutoff", f"{file}:TEMPLATE"])
    assert code == 0, stderr
