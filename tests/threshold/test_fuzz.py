"""Any text is read, or refused with a place in it: without a traceback, a hang, or much memory."""

import json
import subprocess
import sys
from pathlib import Path

from tests.threshold.fuzz.run import COUNT


def test_any_text_is_read_or_refused() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.threshold.fuzz.run"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=3600,  # a hang is to fail, not to last
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["mistakes"] == []
    assert found["megabytes"] < 500
    for kind, least_read, least_refused in (
        ("changed bytes", COUNT // 20, COUNT // 2),
        ("changed tokens", COUNT // 20, COUNT // 2),
        ("grown", COUNT // 2, COUNT // 20),
    ):
        outcomes = found["outcomes"][kind]
        assert outcomes["read"] + outcomes["refused"] == COUNT
        assert outcomes["read"] >= least_read
        assert outcomes["refused"] >= least_refused
