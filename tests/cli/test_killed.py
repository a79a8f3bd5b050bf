"""Two processes check the same files at once, and one is killed: the other, and whoever comes later, is unharmed."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fdverify.cache.signed_records import SignedRecords
from tests.cli.processes import in_session, wait_until
from tests.cli.script import environment
from tests.cli.test_verify_invariant import INVARIANTS, found, verdicts
from tests.launch import HANG_SECONDS, script
from tests.sampling import choose

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

TIMES = choose(full=50, sample=3)
PROOFS = ("strong_accuracy", "tight_accuracy_ivy")
PROVED = dict.fromkeys(PROOFS, "proved")
WORKERS = 2


def started(folder: Path, env: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [script("verify-invariant"), str(folder), "--json", "--jobs", str(WORKERS)],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def assert_gone(session: int) -> None:
    assert wait_until(lambda: in_session(session) == [], HANG_SECONDS)


def keys(proved: Path) -> list[str]:
    return sorted(path.name for path in proved.glob("??/*"))


@pytest.mark.slow
def test_one_of_two_is_killed(tmp_path: Path) -> None:
    chance = random.Random(20261117)
    folder, env = tmp_path / "proofs", environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    folder.mkdir()
    for name in PROOFS:
        shutil.copy(INVARIANTS / f"{name}.py", folder)
    proved, known = (tmp_path / "cache" / "fdverify" / kind for kind in ("proved", "checked"))
    start = time.monotonic()
    found(str(folder), env=env)
    whole = time.monotonic() - start
    everything = keys(proved)
    assert len(everything) > 40
    for turn in range(TIMES):
        shutil.rmtree(known)  # or all is known, and nothing is proved again
        for key in everything:
            if chance.random() < 0.7:
                (proved / key[:2] / key).unlink()
        victim, other = started(folder, env), started(folder, env)
        time.sleep(chance.uniform(0, whole))
        # The process alone, whose workers must notice, or all of them in whatever they are doing.
        (os.kill if turn % 2 else os.killpg)(victim.pid, signal.SIGKILL)
        stdout, _ = other.communicate(timeout=HANG_SECONDS)
        victim.communicate(timeout=HANG_SECONDS)
        assert other.returncode == 0
        assert verdicts(json.loads(stdout)) == PROVED
        assert_gone(victim.pid)
        assert_gone(other.pid)
        assert keys(proved) == everything
        assert all(SignedRecords(proved).read(key) is not None for key in everything)
        assert len(list((proved / "unfinished").iterdir())) <= WORKERS, "no more than one turn can leave"
        code, document = found(str(folder), env=env)
        assert (code, verdicts(document)) == (0, PROVED)
        decided = [o for p in document["proofs"] for o in p["obligations"] if o["kind"] != "vacuity"]
        assert all(obligation["cached"] for obligation in decided)
