"""pytest collects proofs in a process that can be ended: a file that never ends is an error of collecting it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.script import environment
from tests.no_wrong_answers.hostile import write_hostile
from tests.no_wrong_answers.time_limits.watched import LONG_ENOUGH

CASES = [
    ("load", "spin()", "still loading when it was given up after 1 s (hint: is there an endless loop?)"),
    ("load", "os._exit(0)", "it was not loaded: the worker process ended with exit code 0"),
    ("build", "spin()", "still loading when it was given up after 1 s"),
    ("load", "raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("load", "os.kill(os.getpid(), 9)", "it was not loaded: the worker process ended with signal 9"),
    ("load", "raise Odd('no')", "Odd: no"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("place", "statement", "said"), CASES)
def test_collecting(place: str, statement: str, said: str, tmp_path: Path) -> None:
    write_hostile(tmp_path, place, statement).rename(tmp_path / "proof_hostile.py")
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--fdverify-time-limit=1", str(tmp_path)],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG_ENOUGH,
    )
    assert done.returncode == 2
    assert said in done.stdout
    assert "1 error" in done.stdout
