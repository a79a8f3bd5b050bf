"""``--time-limit`` holds from the first moment: whatever an author's file or a solver does, the answer is unknown."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest

from fdverify.cli.supervise import find_time_limit
from fdverify.schemas import find_schema
from tests.no_wrong_answers.hostile import write_hostile
from tests.no_wrong_answers.time_limits.watched import outcome_of
from tests.sampling import every

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MODEL = "hostile.py:COUNTER"
COMMANDS = [
    ("fdverify", "explore", MODEL, "--bound", "2"),
    ("fdverify", "threshold", "check", "hostile.py"),
    ("fdverify", "infer", MODEL),
    ("fdverify", "map", MODEL, "--bound", "1..2"),
    ("fdverify", "bmc", MODEL),
    ("fdverify", "cutoff", MODEL),
    ("fdverify", "induct", MODEL),
    ("fdverify", "live", MODEL),
    ("fdverify", "simulate", MODEL, "--bound", "2"),
    ("fdverify", "bounds", "accuracy", MODEL),
    ("fdverify", "bounds", "detection", MODEL),
    ("fdverify", "induct", "--lemmas", "hostile.py"),
    ("fdverify", "explore", MODEL, "--help"),
]
SPINS = ["spin()", "7 ** (10 ** 9)", "import time; time.sleep(10 ** 6)", "(os.fork(), spin())"]
LIMIT = "0.2"
SAID = f"unknown: the time limit of {LIMIT} s was reached and nothing was known by then\n"
CUBE = "phi*phi*phi-2*delta*delta*delta"


@pytest.mark.parametrize("command", every(18, COMMANDS), ids=" ".join)
def test_a_file_that_never_ends(command: Sequence[str], tmp_path: Path) -> None:
    write_hostile(tmp_path, "load", "spin()")
    outcome = outcome_of((*command, "--time-limit", LIMIT), tmp_path)
    assert (outcome.code, outcome.stderr) == (3, "")
    assert outcome.stdout == SAID or "the time limit" in outcome.stdout


@pytest.mark.slow
@pytest.mark.parametrize("statement", SPINS)
def test_whatever_it_does_meanwhile(statement: str, tmp_path: Path) -> None:
    write_hostile(tmp_path, "load", statement)
    outcome = outcome_of(("fdverify", "explore", MODEL, f"--time-limit={LIMIT}"), tmp_path)
    assert outcome == (3, SAID, "")


@pytest.mark.parametrize("command", every(4, [COMMANDS[0], COMMANDS[4], COMMANDS[2], COMMANDS[3]]), ids=" ".join)
@pytest.mark.parametrize("place", every(4, ["phase", "build", "initial", "property"]))
def test_a_function_that_never_ends(place: str, command: Sequence[str], tmp_path: Path) -> None:
    write_hostile(tmp_path, place, "spin()")
    outcome = outcome_of((*command, "--time-limit", LIMIT), tmp_path)
    assert outcome.code == 3
    assert "unknown" in outcome.stdout


@pytest.mark.parametrize("place", every(3, ["load", "build", "phase", "property", "conjunct"]))
def test_a_proof_that_never_ends(place: str, tmp_path: Path) -> None:
    write_hostile(tmp_path, place, "spin()")
    outcome = outcome_of(("verify-invariant", "hostile.py", "--time-limit", LIMIT), tmp_path)
    assert outcome.code == 3
    assert "the time limit" in outcome.stdout


@pytest.mark.slow
def test_a_document_says_so(tmp_path: Path) -> None:
    write_hostile(tmp_path, "load", "spin()")
    outcome = outcome_of(("fdverify", "explore", MODEL, "--json", "--time-limit", LIMIT), tmp_path)
    document = json.loads(outcome.stdout)
    jsonschema.validate(document, json.loads(find_schema("unanswered")))
    assert (outcome.code, document["command"], document["verdict"]) == (3, "explore", "unknown")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["infer", "bmc", "induct"])
def test_a_timeout_on_which_the_solver_never_ends(command: str, tmp_path: Path) -> None:
    timeout = f"({CUBE})*({CUBE})"
    outcome = outcome_of(("fdverify", command, "--timeout", timeout, "--time-limit", LIMIT), tmp_path)
    assert outcome.code == 3
    assert "unknown: the time limit" in outcome.stdout


def test_a_large_automaton(tmp_path: Path) -> None:
    places = 3000
    locations = "\n".join(f"L{at}: [{at}];" for at in range(places))
    inits = "\n".join(f"L{at} == 0;" for at in range(1, places))
    rules = "\n".join(f"{at}: L{at} -> L{at + 1} when (x >= {at}) do {{ x' == x + 1; }};" for at in range(places - 1))
    (tmp_path / "large.ta").write_text(
        f"skel Large {{ local pc; shared x; parameters N; assumptions (1) {{ N > 0; }}\n"
        f"locations ({places}) {{ {locations} }}\n"
        f"inits ({places + 1}) {{ L0 == N; x == 0; {inits} }}\n"
        f"rules ({places - 1}) {{ {rules} }}\n"
        f"specifications (1) {{ still: [](L{places - 1} == 0); }} }}\n"
    )
    outcome = outcome_of(("fdverify", "threshold", "check", "large.ta", "--time-limit", LIMIT), tmp_path)
    assert (outcome.code, outcome.stderr) == (3, "")
    assert "unknown: the time limit" in outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ([], None),
        (["explore", "--time-limit", "2.5"], 2.5),
        (["explore", "--time-limit=1e3", "x"], 1000.0),
        (["--time-limit", "1", "--time-limit", "2"], 2.0),
        (["--", "--time-limit", "1"], None),
        (["--time-limit"], None),
        (["--time-limit", "soon"], None),
        (["--time-limit", "nan"], None),
        (["--time-limit", "inf"], None),
        (["--time-limit", "-1"], None),
    ],
)
def test_which_limit_is_meant(arguments: list[str], seconds: float | None) -> None:
    assert find_time_limit(arguments) == seconds
