"""The cases of what is known hold in a process of their own.

The process of the tests has imported modules that are changed or gone by now, so nothing would be known there.
Every file that a process has imported is read again in each case, so it has no conftest.py and no plugins.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("known_outcome_cases.py")
WITHOUT = ("--noconftest", *(f"-pno:{plugin}" for plugin in ("cacheprovider", "xdist", "hypothesispytest")))


@pytest.mark.parametrize("part", ["test_a_change_is_noticed", "not test_a_change_is_noticed"])
def test_cases_hold(part: str) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "pytest", "-q", *WITHOUT, str(CASES), "-k", part]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COVERAGE_"))}
    done = subprocess.run(command, cwd=root, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
