"""Ctrl-C and kill end a command, whatever an author's file does, and nothing is left of it."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.processes import children, in_session, wait_until
from tests.no_wrong_answers.hostile import write_hostile
from tests.no_wrong_answers.time_limits.watched import LONG_ENOUGH, begun, ended
from tests.sampling import every

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

COMMANDS = [
    ("fdverify", "explore", "hostile.py:COUNTER"),
    ("verify-invariant", "hostile.py"),
    ("fdverify", "threshold", "show", "hostile.py"),
    ("fdverify", "infer", "hostile.py:COUNTER"),
]
REACHED = "(open('reached', 'w').close(), spin())"
DEAF = "(signal.signal(signal.SIGINT, signal.SIG_IGN), open('reached', 'w').close(), 7 ** (10 ** 9))"


@pytest.mark.parametrize("command", every(3, COMMANDS), ids=" ".join)
@pytest.mark.parametrize("statement", every(2, [REACHED, DEAF]))
@pytest.mark.parametrize(
    ("number", "of_all", "code"),
    every(2, [(signal.SIGINT, True, 130), (signal.SIGINT, False, 130), (signal.SIGTERM, False, 143)]),
)
def test_interrupt(
    command: tuple[str, ...], statement: str, number: int, of_all: bool, code: int, tmp_path: Path
) -> None:
    write_hostile(tmp_path, "load", statement)
    with begun(command, tmp_path) as process:
        assert wait_until((tmp_path / "reached").exists, LONG_ENOUGH)
        (os.killpg if of_all else os.kill)(process.pid, number)
        outcome = ended(process)
    assert (outcome.code, outcome.stdout, outcome.stderr) == (code, "", "")


@pytest.mark.parametrize("command", every(2, COMMANDS), ids=" ".join)
def test_killed(command: tuple[str, ...], tmp_path: Path) -> None:
    write_hostile(tmp_path, "load", REACHED)
    with begun(command, tmp_path) as process:
        assert wait_until((tmp_path / "reached").exists, LONG_ENOUGH)
        process.kill()
        assert wait_until(lambda: in_session(process.pid) == [], LONG_ENOUGH)


@pytest.mark.slow
def test_what_a_file_has_started_is_ended(tmp_path: Path) -> None:
    """Even what has left the session, whose parent has ended."""
    started = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)"
    write_hostile(tmp_path, "load", f"{started}; open('reached', 'w').close(); spin()")
    with begun(COMMANDS[0], tmp_path) as process:
        assert wait_until((tmp_path / "reached").exists, LONG_ENOUGH)
        (command,) = children(process.pid)
        (sleeping,) = children(command.pid)
        os.killpg(process.pid, signal.SIGINT)
        assert ended(process).code == 130
        assert wait_until(lambda: not Path(f"/proc/{sleeping.pid}").exists(), LONG_ENOUGH)
