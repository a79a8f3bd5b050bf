"""Too few files or processes, too little memory, killed workers, and names that are too long."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fdverify.errors import ResourcesExhausted, describe_error, find_exhausted_resource, format_one_line
from tests.cli.processes import in_session, wait_until, workers
from tests.cli.script import environment, run
from tests.launch import HANG_SECONDS, script
from tests.no_wrong_answers.time_limits.watched import LONG_ENOUGH, begun, ended, outcome_of
from tests.sampling import every

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

ROOT = Path(__file__).parents[3]
THRESHOLD = str(ROOT / "examples" / "threshold")
PROOF = str(ROOT / "invariants" / "strong_accuracy.py")
COMMANDS = [
    ("fdverify", "explore", "--delta", "1", "--phi", "1"),
    ("verify-invariant", PROOF, "--no-cache", "--jobs", "8"),
    ("fdverify", "threshold", "check", f"{THRESHOLD}/strb.ta"),
    ("fdverify", "infer", "--timeout", "3*phi"),
]
FORK = """
import os

_fork, _left = os.fork, [{forks}]


def fork():
    if not _left[0]:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    _left[0] -= 1
    return _fork()


os.fork = fork
"""


def limited(command: Sequence[str], kind: int, most: int) -> "subprocess.CompletedProcess[str]":
    name, *arguments = command
    return subprocess.run(
        [script(name), *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        preexec_fn=lambda: resource.setrlimit(kind, (most, most)),
    )


@pytest.mark.parametrize("command", every(5, COMMANDS), ids=lambda command: command[1])
@pytest.mark.parametrize("most", every(2, [6, 7, 8]))
def test_too_few_files(command: Sequence[str], most: int) -> None:
    done = limited(command, resource.RLIMIT_NOFILE, most)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith("unknown: ")
    assert done.stdout.endswith("Too many open files\n")


@pytest.mark.parametrize("command", every(5, COMMANDS), ids=lambda command: command[1])
@pytest.mark.parametrize("megabytes", every(3, [32, 40, 48, 64]))
def test_too_little_memory(command: Sequence[str], megabytes: int) -> None:
    """What cannot be loaded differs: Python itself, Z3, which says so on stdout, or numpy."""
    done = limited(command, resource.RLIMIT_AS, megabytes << 20)
    assert done.returncode == 3
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout.startswith("unknown: ")


@pytest.mark.parametrize("command", every(5, COMMANDS), ids=lambda command: command[1])
@pytest.mark.parametrize("forks", [0, 1])
def test_too_few_processes(command: Sequence[str], forks: int, tmp_path: Path) -> None:
    """The administrator has as many as there are, so it is said by a stand-in for the system."""
    (tmp_path / "sitecustomize.py").write_text(FORK.format(forks=forks))
    outcome = outcome_of(command, tmp_path, {"PYTHONPATH": str(tmp_path)})
    assert (outcome.code, outcome.stderr) == (3, "")
    assert outcome.stdout.startswith("unknown: ")
    assert outcome.stdout.endswith("Resource temporarily unavailable\n")


@pytest.mark.parametrize(
    "command",
    every(
        4,
        [
            ("fdverify", "threshold", "table", THRESHOLD),
            ("fdverify", "cutoff"),
            ("fdverify", "bounds", "accuracy"),
            ("fdverify", "explore", "--delta", "4", "--phi", "200"),
        ],
    ),
    ids=lambda command: " ".join(command[1:3]),
)
def test_a_killed_worker_is_unknown(command: Sequence[str], tmp_path: Path) -> None:
    with begun(command, tmp_path) as process:
        assert wait_until(lambda: any(each.cpu_seconds > 0.1 for each in workers(process.pid)), LONG_ENOUGH)
        for worker in workers(process.pid):
            os.kill(worker.pid, signal.SIGKILL)
        outcome = ended(process)
    assert outcome.code == 3
    assert "unknown: " in outcome.stdout
    assert in_session(process.pid) == []


LONG = "a" * 300


@pytest.mark.parametrize(
    "arguments",
    every(
        3,
        [
            ("explore", f"{LONG}.py:MODEL"),
            ("threshold", "check", f"{LONG}.ta"),
            ("cutoff", f"{LONG}.py:ROUNDS"),
            ("explore", "--delta", "1", "--phi", "1", "--html", f"{LONG}.html"),
            ("new", "proof", LONG),
            ("infer", "--output", LONG),
            ("induct", "--lemmas", f"{LONG}.py"),
            ("bounds", "accuracy", "--proof", f"{LONG}.py"),
            ("map", "--delta", "0..1", "--phi", "1", "--svg", f"{LONG}.svg"),
            ("threshold", "table", LONG),
        ],
    ),
    ids=lambda arguments: arguments[0],
)
def test_a_name_that_is_too_long(arguments: tuple[str, ...], tmp_path: Path) -> None:
    outcome = run(*arguments, cwd=tmp_path)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("error: ")
    assert "File name too long" in outcome.stderr
    assert outcome.stderr.count("\n") == 1


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError


class Twin(Exception):
    def __eq__(self, other: object) -> bool:
        raise ValueError

    __hash__ = None  # type: ignore[assignment]


def test_words_for_any_error() -> None:
    assert describe_error(Mute()) == "Mute: (its text cannot be computed)"
    assert format_one_line("a\nb\t c") == "a b c"
    assert len(format_one_line("x" * 10**6)) < 600
    twin = Twin("first")
    twin.__context__ = Twin("second")
    twin.__context__.__context__ = twin
    assert find_exhausted_resource(twin) is None
    twin.__context__ = OSError(24, "Too many open files")
    assert find_exhausted_resource(twin) == "the system refuses: Too many open files"
    assert ResourcesExhausted.exit_code == 3


@pytest.mark.parametrize(
    "text", ["error return without exception set", "<function f> returned NULL without setting an exception"]
)
def test_python_that_fails_without_saying_how_lacks_memory_only_if_it_is_limited(text: str) -> None:
    assert find_exhausted_resource(SystemError(text)) is None
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 46, hard))
    try:
        assert find_exhausted_resource(SystemError(text)) == "out of memory"
        assert find_exhausted_resource(SystemError("a library is broken")) is None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
