"""Exit 1 is for violated and not-inductive alone: whatever an author's file raises or does is told by another code."""

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.no_wrong_answers.hostile import write_hostile
from tests.no_wrong_answers.time_limits.watched import outcome_of
from tests.sampling import every

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MODEL = "hostile.py:COUNTER"
RAISED = {
    "raise SystemExit(0)": "SystemExit: 0",
    "raise SystemExit(1)": "SystemExit: 1",
    "raise KeyboardInterrupt": "KeyboardInterrupt:",
    "raise GeneratorExit": "GeneratorExit:",
    "raise Odd('so')": "Odd: so",
    "raise Mute": "Mute: (its text cannot be computed)",
    "raise Torn('two\\nlines')": "Torn name: two lines",
    "raise ValueError('long' * 10 ** 6)": "ValueError: longlong",
    "raise Liar": "Liar:",
    "raise BrokenPipeError(32, 'no')": "BrokenPipeError: [Errno 32] no",
    "import typer; raise typer.Exit(0)": "Exit: 0",
    "recur()": "RecursionError: maximum recursion depth exceeded",
    "sys.exit('a\\nb')": "SystemExit: a b",
}
ENDED = [
    "os._exit(0)",
    "os._exit(1)",
    "os.abort()",
    "os.kill(os.getpid(), signal.SIGKILL)",
    "raise MemoryError",
    "[0] * 10 ** 15",
]
PLACES: dict[str, list[tuple[str, ...]]] = {
    "load": [("fdverify", "explore", MODEL, "--bound", "2"), ("fdverify", "threshold", "show", "hostile.py")],
    "build": [("fdverify", "bmc", MODEL), ("fdverify", "map", MODEL, "--bound", "1..2")],
    "initial": [("fdverify", "infer", MODEL), ("fdverify", "simulate", MODEL, "--bound", "2")],
    "phase": [("fdverify", "explore", MODEL, "--bound", "2"), ("fdverify", "induct", MODEL)],
    "property": [("fdverify", "bmc", MODEL), ("fdverify", "map", MODEL, "--bound", "1..2")],
    "conjunct": [("verify-invariant", "hostile.py")],
}
CALLS = [(place, command) for place, commands in PLACES.items() for command in commands]


@pytest.mark.parametrize(("call", "statement"), every(20, list(product(CALLS, RAISED))))
def test_raised(call: tuple[str, Sequence[str]], statement: str, tmp_path: Path) -> None:
    place, command = call
    write_hostile(tmp_path, place, statement)
    outcome = outcome_of(command, tmp_path)
    assert outcome.code == 2
    assert outcome.stderr.startswith("error: hostile.py:")
    if not (statement.startswith("sys.") and "looks at more than its arguments" in outcome.stderr):  # read, not run
        assert RAISED[statement] in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert len(outcome.stderr) < 1000


@pytest.mark.parametrize(("call", "statement"), every(12, list(product(CALLS, ENDED))))
def test_ended(call: tuple[str, Sequence[str]], statement: str, tmp_path: Path) -> None:
    place, command = call
    write_hostile(tmp_path, place, statement)
    outcome = outcome_of(command, tmp_path)
    if outcome.code == 2:
        # A phase or a claim that calls the system is refused where its source is read before it is run.
        assert statement.startswith("os.")
        assert place not in ("load", "build")
        assert outcome.stderr.startswith("error: hostile.py:")
        assert outcome.stderr.count("\n") == 1
        return
    assert (outcome.code, outcome.stderr) == (3, "")
    assert "unknown" in outcome.stdout


def test_nothing_is_wrong_without_a_statement(tmp_path: Path) -> None:
    write_hostile(tmp_path)
    assert outcome_of(("fdverify", "explore", MODEL, "--bound", "2"), tmp_path).code == 0


@pytest.mark.parametrize(
    "statement",
    every(
        2,
        [
            "import atexit; atexit.register(spin)",
            "os.fork()",
            "import threading; threading.Thread(target=spin).start()",
            "sys.stderr.close()",
        ],
    ),
)
def test_what_does_not_matter(statement: str, tmp_path: Path) -> None:
    write_hostile(tmp_path, "load", statement)
    outcome = outcome_of(("fdverify", "explore", MODEL, "--bound", "2"), tmp_path)
    assert (outcome.code, outcome.stderr) == (0, "")
    assert outcome.stdout.count("proved: small holds in all 3 reachable states\n") == 1


def test_a_phase_beside_its_model_is_blamed_too(tmp_path: Path) -> None:
    model = write_hostile(tmp_path, "load", "from beside import tick as other")
    model.write_text(model.read_text().replace('Phase("tick", tick)', 'Phase("tick", other)'))
    (tmp_path / "beside.py").write_text("def tick(s, c):\n    raise SystemExit(0)\n")
    outcome = outcome_of(("fdverify", "explore", MODEL, "--bound", "2"), tmp_path)
    assert outcome == (2, "", "error: beside.py:2: SystemExit: 0\n")
