"""What a command tells the process that watches over it: it has answered, its limit begins anew, or is lifted."""

import subprocess
import sys
from pathlib import Path

import pytest

from fdverify.deadline import (
    LIFTED,
    RENEWED,
    Deadline,
    choose_earlier_deadline,
    lift_deadline,
    renew_deadline,
    set_deadline,
)
from tests.cli.script import environment
from tests.no_wrong_answers.time_limits.watched import LONG_ENOUGH
from tests.sampling import every

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a command has a process of its own on Linux")

COMMAND = """
import os, sys, time
from fdverify.cli.supervisor_pipe import announce_answer
from fdverify.deadline import lift_deadline, renew_deadline


def run(arguments):
    {work}
"""
CALL = "import sys; from fdverify.cli.supervise import supervise; sys.exit(supervise('it', sys.argv[1:], 'work'))"
OVERLONG = "time.sleep(2.2)"


@pytest.mark.parametrize(
    ("work", "code"),
    every(
        2,
        [
            (f"{OVERLONG}; return 0", 3),
            (f"announce_answer(); {OVERLONG}; return 0", 0),
            ("return 4", 4),
            (f"lift_deadline(); {OVERLONG}; return 0", 0),
            ("os._exit(0)", 3),
            ("[(time.sleep(0.5), renew_deadline()) for _ in range(5)]; return 0", 0),
            ("raise MemoryError", 3),
            ("raise SystemExit(1)", 70),
        ],
    ),
)
def test_how_it_ends(work: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(COMMAND.format(work=work))
    done = subprocess.run(
        [sys.executable, "-c", CALL, "--time-limit", "0.1"],
        env=environment(PYTHONPATH=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=LONG_ENOUGH,
    )
    assert done.returncode == code
    assert (done.stdout + done.stderr).count("\n") == (code in (3, 70))


def test_a_deadline_holds_besides_others() -> None:
    heard: list[str] = []
    set_deadline(Deadline(5.0, 100.0, heard.append))
    try:
        assert (choose_earlier_deadline(None), choose_earlier_deadline(50.0), choose_earlier_deadline(200.0)) == (
            100.0,
            50.0,
            100.0,
        )
        renew_deadline()
        renewed = choose_earlier_deadline(None)
        assert renewed is not None
        assert renewed > 0
    finally:
        lift_deadline()
    assert (choose_earlier_deadline(None), choose_earlier_deadline(50.0)) == (None, 50.0)
    assert heard == [RENEWED, LIFTED]
