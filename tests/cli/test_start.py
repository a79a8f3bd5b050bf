"""Help and version come at once: no solver and no arrays are loaded for them."""

import subprocess
import sys
from pathlib import Path

import pytest

import fdverify
from tests.cli.script import COMMANDS, environment, run
from tests.launch import HANG_SECONDS

HEAVY = ("z3", "numpy", "pysmt", "itf_py", "msgspec", "distributed", "dask")
LOADED = """
import sys
from fdverify.app import run

code = run(sys.argv[1:])
loaded = {name.partition(".")[0] for name in sys.modules}
print(code, *sorted(loaded & {HEAVY}), file=sys.stderr)
"""


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(flag: str) -> None:
    outcome = run(flag)
    assert (outcome.code, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("Usage: fdverify [OPTIONS] COMMAND [ARGS]...\n")
    assert "Exit codes: 0 proved or bounded" in outcome.stdout
    for command in (*COMMANDS, "map", "threshold"):
        assert f"\n  {command} " in outcome.stdout


def test_version() -> None:
    outcome = run("--version")
    assert outcome == (0, f"fdverify {fdverify.__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str) -> None:
    outcome = run(command, "--help")
    assert (outcome.code, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith(f"Usage: fdverify {command} [OPTIONS] [MODEL]\n")
    for option in ("--delta", "--property", "--time-limit", "--json", "--itf", "--show", "--subrounds"):
        assert option in outcome.stdout


def test_nothing_asked_for() -> None:
    """Without arguments there is the same help, as the lines that it has."""
    outcome = run()
    assert outcome.code in (0, 2)
    assert run("--help").stdout.strip() in outcome.stdout + outcome.stderr


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), *((command, "--help") for command in (*COMMANDS, "map"))]
)
def test_nothing_heavy_is_loaded(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.replace("{HEAVY}", str(set(HEAVY))), *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert done.stderr == "0\n"


def test_nothing_heavy_is_loaded_for_the_help_of_verify_invariant() -> None:
    loads = LOADED.replace("{HEAVY}", str(set(HEAVY))).replace("fdverify.app", "fdverify.verify_invariant")
    done = subprocess.run(
        [sys.executable, "-c", loads, "--help"], env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS
    )
    assert done.stderr == "0\n"


def test_heavy_things_are_noticed(tmp_path: Path) -> None:
    """The check above sees what a command that computes has loaded into its own process."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            LOADED.replace("{HEAVY}", str(set(HEAVY))),
            "simulate",
            "--delta=1",
            "--phi=1",
            f"--itf={tmp_path / 'run.itf.json'}",
        ],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert done.stderr.split()[0] == "0"
    assert "itf_py" in done.stderr.split()
