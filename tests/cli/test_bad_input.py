"""Bad input is one line on stderr and exit code 2: nothing on stdout, nothing written, no traceback."""

from itertools import product
from pathlib import Path

import pytest

from tests.cli.script import COMMANDS, run
from tests.sampling import every

FIXED = ("--delta", "2", "--phi", "4")

MODEL = """
from enum import IntEnum

from fdverify.logic import And, If, Or
from fdverify.models.model import Model, Option
from fdverify.models.system import Flag, Integers, Labels, Parameter, Phase, Property, System, Variable, update


class Lamp(IntEnum):
    Off = 0
    On = 1


def model(run, options=()):
    def build(limit, **chosen):
        return System(
            name="clock",
            options={},
            parameters=(Parameter("limit", 1, limit),),
            variables=(
                Variable("ticks", Integers(), initial=lambda s: 0),
                Variable("lamp", Labels(Lamp), initial=lambda s: Lamp.Off),
            ),
            phases=(Phase("tick", run, (Flag("go"),)),),
            properties=(Property("small", lambda s: s.ticks < 99, "the clock is young"),),
            liveness=(Property("old", lambda s: s.ticks > 99, "the clock is old"),),
        )

    return Model("clock", "a clock", (Parameter("limit", 1, None),), options, "small", build, "old")


def breaks(s, c):
    raise RuntimeError("out of\\norder")


GOOD = model(lambda s, c: update(ticks=s.ticks + 1))
RAISES = model(breaks)
RETURNS_NOTHING = model(lambda s, c: None)
UNKNOWN_VARIABLE = model(lambda s, c: update(tacks=1))
UNKNOWN_LABEL = model(lambda s, c: update(lamp=If(c.go, s.ticks + 2, s.lamp)))
TRUTH_AS_NUMBER = model(lambda s, c: update(ticks=Or(*(And(c.go, s.limit == number) for number in range(40)))))
NO_SYSTEM = Model("clock", "a clock", (), (), "small", lambda: 3)
CLASHING_OPTION = model(breaks, (Option("json", "not the command's own", "x"),))
REPEATED_OPTION = model(breaks, (Option("limit", "also a parameter", "x"),))
NO_MODEL = 3
"""

FILES = {
    "model.py": MODEL.encode(),
    "syntax.py": b"x = 1\ndef f(:\n",
    "raises.py": b"x = 1\nraise RuntimeError('first line\\nsecond line')\n",
    "exits.py": b"import sys\nsys.exit(0)\n",
    "missing_import.py": b"import no_such_module_anywhere\n",
    "zero_byte.py": b"x = 1\0\n",
    "latin1.py": b"x = '\xff'\n",
}

EVERY_COMMAND = {
    "negative delta": (("--delta", "-1", "--phi", "4"), "--delta must be at least 0, got -1"),
    "phi of zero": (("--delta", "2", "--phi", "0"), "--phi must be at least 1, got 0"),
    "broken expression": ((*FIXED, "--timeout", "phi**"), "'phi**'"),
    "timeout of zero": ((*FIXED, "--timeout", "phi-phi"), "initial_timeout = phi-phi must be at least 1, got 0"),
    "unknown property": (
        (*FIXED, "--property", "eventually-strong-acuracy"),
        "did you mean eventually-strong-accuracy?",
    ),
    "unknown option": ((*FIXED, "--colour"), "--colour"),
    "itf into a missing folder": ((*FIXED, "--itf", "missing/run.json"), "cannot write missing/run.json"),
    "missing file": (("absent.py:GOOD",), "no such file: absent.py"),
    "import that exits": (("exits.py:GOOD",), "exits.py:2: SystemExit"),
    "phase that raises": (("model.py:RAISES", "--limit", "3"), "RuntimeError: out of order"),
    "phase that returns nothing": (("model.py:RETURNS_NOTHING", "--limit", "3"), "tick"),
}

BEFORE_THE_ENGINE = {
    "no number": (("--delta", "2", "--phi", "four"), "--phi must be a number or symbolic, got 'four'"),
    "Python in an expression": ((*FIXED, "--timeout", '__import__("os")'), "not in the grammar"),
    "counter without delta": (("--phi", "4", "--delta", "symbolic", "--buffer", "counter"), "needs a fixed delta"),
    "counter beyond 6": (("--delta", "7", "--phi", "4", "--buffer", "counter"), "hint: use --buffer bitvector"),
    "unknown buffer": ((*FIXED, "--buffer", "queue"), "--buffer"),
    "unknown variant": ((*FIXED, "--variant", "tlaplus"), "--variant must be one of tla, ivy, got tlaplus"),
    "property of crashes only": ((*FIXED, "--property", "strong-completeness"), "has no property strong-completeness"),
    "unknown model": (("chandra-tweg", *FIXED), "did you mean chandra-toueg?"),
    "one argument too many": (("chandra-toueg", "again", *FIXED), "again"),
    "missing option value": (("--delta", "2", "--phi"), "--phi"),
    "show an unknown name": ((*FIXED, "--show", "waitingtime"), "unknown name waitingtime"),
    "show what is no number": ((*FIXED, "--show", "suspected"), "unknown name suspected"),
    "itf onto a folder": ((*FIXED, "--itf", "."), "cannot write ."),
    "itf below a file": ((*FIXED, "--depth", "1", "--itf", "model.py/run.json"), "cannot write model.py/run.json"),
    "no time": ((*FIXED, "--time-limit", "0"), "--time-limit"),
    "time is no number": ((*FIXED, "--time-limit", "soon"), "--time-limit"),
    "file without that name": (("model.py:BETTER", "--limit", "3"), "model.py has no model BETTER"),
    "syntax error": (("syntax.py:GOOD",), "syntax.py:2: "),
    "import that raises": (("raises.py:GOOD",), "raises.py:2: RuntimeError: first line second line"),
}

ONE_COMMAND = {
    "bmc, timeout can be zero": ("bmc", ("--phi", "4", "--timeout", "delta"), "got 0 at delta=0"),
    "induct, timeout can be zero": ("induct", ("--phi", "4", "--timeout", "delta"), "got 0 at delta=0"),
    "explore, negative depth": ("explore", (*FIXED, "--depth", "-1"), "--depth"),
    "bmc, negative depth": ("bmc", (*FIXED, "--depth", "-1"), "--depth"),
    "simulate, negative depth": ("simulate", (*FIXED, "--depth", "-1"), "--depth"),
    "bmc, fractional depth": ("bmc", (*FIXED, "--depth", "2.5"), "--depth"),
    "simulate, seed": ("simulate", (*FIXED, "--seed", "luck"), "--seed"),
    "induct, k of zero": ("induct", (*FIXED, "--max-k", "0"), "--max-k"),
    "induct, another's option": ("induct", (*FIXED, "--depth", "3"), "--depth"),
    "bmc, negative time": ("bmc", (*FIXED, "--time-limit", "-1"), "--time-limit"),
    "bmc, time that compares with nothing": ("bmc", (*FIXED, "--time-limit", "nan"), "--time-limit"),
    "bmc, endless time": ("bmc", (*FIXED, "--time-limit", "inf"), "--time-limit"),
    "bmc, negative parameter": ("bmc", ("model.py:GOOD", "--limit", "0"), "--limit must be at least 1, got 0"),
    "bmc, name is no model": ("bmc", ("model.py:NO_MODEL",), "model.py has no model NO_MODEL"),
    "bmc, file without a name": ("bmc", ("model.py",), "hint: write file.py:NAME"),
    "bmc, missing import": ("bmc", ("missing_import.py:GOOD",), "missing_import.py:1: ModuleNotFoundError"),
    "bmc, zero byte": ("bmc", ("zero_byte.py:GOOD",), "zero_byte.py"),
    "bmc, not UTF-8": ("bmc", ("latin1.py:GOOD",), "latin1.py:1: "),
    "bmc, unknown variable": ("bmc", ("model.py:UNKNOWN_VARIABLE", "--limit", "3"), "phase tick sets tacks"),
    "bmc, truth as number": ("bmc", ("model.py:TRUTH_AS_NUMBER",), "which is of another sort"),
    "bmc, unknown label": ("bmc", ("model.py:UNKNOWN_LABEL", "--limit", "3"), "lamp"),
    "simulate, unknown label": ("simulate", ("model.py:UNKNOWN_LABEL", "--limit", "3"), "lamp"),
    "bmc, no system": ("bmc", ("model.py:NO_SYSTEM",), "returns int, not a System"),
    "bmc, clashing option": ("bmc", ("model.py:CLASHING_OPTION", "--limit", "3"), "json"),
    "bmc, repeated option": ("bmc", ("model.py:REPEATED_OPTION", "--limit", "3"), "limit"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_refused(folder: Path, arguments: tuple[str, ...], part: str) -> None:
    before = contents(folder)
    outcome = run(*arguments, cwd=folder)
    assert (outcome.code, outcome.stdout) == (2, ""), outcome
    assert "Traceback" not in outcome.stderr
    assert outcome.stderr.startswith("error: ")
    assert outcome.stderr.endswith("\n")
    assert len(outcome.stderr.splitlines()) == 1
    assert part in outcome.stderr
    assert contents(folder) == before


@pytest.mark.parametrize(("command", "case"), every(9, product(COMMANDS, EVERY_COMMAND)))
def test_every_command_refuses(folder: Path, command: str, case: str) -> None:
    arguments, part = EVERY_COMMAND[case]
    check_refused(folder, (command, *arguments), part)


@pytest.mark.parametrize(("case", "command"), every(9, product(BEFORE_THE_ENGINE, ["bmc", "simulate"])))
def test_refused_before_the_engine_starts(folder: Path, command: str, case: str) -> None:
    """One command with a solver and one without stand for all: which engine it would be makes no difference."""
    arguments, part = BEFORE_THE_ENGINE[case]
    check_refused(folder, (command, *arguments), part)


@pytest.mark.parametrize("case", every(5, ONE_COMMAND))
def test_refuses(folder: Path, case: str) -> None:
    command, arguments, part = ONE_COMMAND[case]
    check_refused(folder, (command, *arguments), part)


@pytest.mark.parametrize("flag", ["--json", "--subrounds"])
def test_refuses_whatever_the_output(folder: Path, flag: str) -> None:
    check_refused(folder, ("bmc", "--delta", "-1", flag, "--itf", "run.json"), "--delta must be at least 0")


@pytest.mark.parametrize("arguments", [("prove",), ("--fast",), ("--fast", "bmc")])
def test_refuses_before_a_command(folder: Path, arguments: tuple[str, ...]) -> None:
    check_refused(folder, arguments, arguments[0])


def test_the_good_model_is_good(folder: Path) -> None:
    """What is refused above is refused for the reason given: nothing else is wrong with that file."""
    assert run("bmc", "model.py:GOOD", "--limit", "3", "--depth", "3", cwd=folder).code == 0
