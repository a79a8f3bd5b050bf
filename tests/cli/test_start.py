"""Help and version come at once: no solver and no arrays are loaded for them."""

import subprocess
import sys
from pathlib import Path

import pytest

import fdverify
from tests.cli.script import COMMANDS, environment, run
from tests.launch import HANG_SECONDS

HEAVY = ("z3", "numpy", "pysmt", "itf_py", "msgspec", "distributed", "dask", "networkx", "lark", "pydantic")
ROOT = Path(__file__).parents[2]
LOADED_BY = {
    ("threshold", "check", "examples/threshold/strb.ta"): {"lark", "z3"},
    ("explore", "--delta", "1", "--phi", "1"): set[str](),
    ("bmc", "--delta", "1", "--phi", "1", "--depth", "2"): set[str](),
    ("cache",): set[str](),
    ("schema", "proofs"): {"msgspec"},
}
"""What a command loads into its own process; what it computes with, its workers load."""
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


def load(module: str, *arguments: str) -> tuple[int, set[str]]:
    """The exit code of a command line, and which of the heavy modules it has loaded."""
    code = LOADED.replace("{HEAVY}", str(set(HEAVY))).replace("fdverify.app", module)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, env=environment(), capture_output=True, text=True
    )
    exit_code, *loaded = done.stderr.splitlines()[-1].split()
    return int(exit_code), set(loaded)


@pytest.mark.parametrize("arguments", LOADED_BY, ids=" ".join)
def test_a_command_loads_what_it_needs(arguments: tuple[str, ...]) -> None:
    assert load("fdverify.app", *arguments) == (0, LOADED_BY[arguments])


def test_a_proof_that_is_known_loads_no_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, loaded = load("fdverify.verify_invariant", "invariants/strong_accuracy.py")
    assert code == 0
    assert "z3" in loaded
    assert load("fdverify.verify_invariant", "invariants/strong_accuracy.py") == (0, set())
