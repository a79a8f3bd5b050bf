"""Choices of integers from wide or odd ranges: every command gives the right answer, says unknown, or refuses them."""

from pathlib import Path

import pytest

from tests.cli.script import run, run_script

MODEL = """
from enum import IntEnum

import numpy as np
from fdverify import Amount, And, If, Integers, Labels, Min, Model, Parameter, Phase, Property, System, Variable, update


class Mode(IntEnum):
    Idle = 0
    Busy = 1


def build(w):
    return System(
        name="wide",
        options={{}},
        parameters=(Parameter("w", least=0, value=w),),
        variables=(
            Variable("x", Integers(), lambda s: 0{more}),
            Variable("mode", Labels(Mode), lambda s: Mode.Idle),
        ),
        phases=(Phase("jump", lambda s, c: update({changes}), (Amount("by", {low}, {high}),)),),
        properties=(Property("small", lambda s: {claim}, "it is small"),),
    )


WIDE = Model("wide", "a wide choice", (Parameter("w", least=0, value=None),), (), "small", build)
"""
PROOF = """
from fdverify import And, Proof

proof = Proof("wide.py:WIDE", goal="small")


@proof.invariant
def inside(s):
    "It is a bit."
    return And(s.x >= 0, s.x <= 1)
"""


def write(folder: Path, low: object, high: object, changes: str, claim: str = "s.x >= 0", more: str = "") -> Path:
    low, high = (each if isinstance(each, str) else f"lambda s: {each}" for each in (low, high))
    (folder / "wide.py").write_text(MODEL.format(low=low, high=high, changes=changes, claim=claim, more=more))
    return folder


def test_numbers_beyond_a_machine_word(tmp_path: Path) -> None:
    write(tmp_path, 10**30, 10**30 + 3, "x=c.by")
    explored = run("explore", "wide.py:WIDE", "--w", "1", cwd=tmp_path)
    assert (explored.code, explored.stdout.splitlines()[0]) == (0, "proved: small holds in all 5 reachable states")
    assert run("bmc", "wide.py:WIDE", "--w", "1", "--depth", "3", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("low", "high", "value"), [(0, 700, "c.by*c.by*c.by*c.by*10**9"), (2**33, 2**33 + 1, "c.by*c.by")]
)
def test_products_beyond_a_machine_word(low: int, high: int, value: str, tmp_path: Path) -> None:
    write(tmp_path, low, high, f"x={value}")
    for command in (("explore",), ("bmc", "--depth", "2")):
        outcome = run(*command, "wide.py:WIDE", "--w", "1", cwd=tmp_path)
        assert outcome.code == 0, outcome.stderr


def test_a_cap_that_no_choice_sees_past(tmp_path: Path) -> None:
    write(tmp_path, 0, 3, "x=s.x + c.by", more=", range=lambda s: s.x >= 0, cap=lambda s: s.w + 1")
    outcome = run("explore", "wide.py:WIDE", "--w", "3", cwd=tmp_path)
    assert (outcome.code, outcome.stderr) == (0, "")


def test_a_cap_that_an_end_of_the_range_sees_past(tmp_path: Path) -> None:
    write(tmp_path, 0, "lambda s: If(s.x > 7, 3, 1)", "x=s.x + c.by", more=", cap=lambda s: s.w + 1")
    outcome = run("explore", "wide.py:WIDE", "--w", "3", cwd=tmp_path)
    assert outcome.code == 2
    assert "depends on how far x lies above its cap" in outcome.stderr


def test_a_range_that_cannot_be_listed(tmp_path: Path) -> None:
    """It costs a solver nothing; what has to list it says that it does not."""
    write(tmp_path, 0, 10**12, "x=If(c.by > 5, 1, 0)", claim="And(s.x >= 0, s.x <= 1)")
    (tmp_path / "proof.py").write_text(PROOF)
    assert run("bmc", "wide.py:WIDE", "--depth", "3", cwd=tmp_path).code == 0
    assert run("proof.py", name="verify-invariant", cwd=tmp_path).code == 0
    explored = run("explore", "wide.py:WIDE", "--w", "1", cwd=tmp_path)
    assert explored.code == 3
    assert "by has too many values to try them all" in explored.stdout


def test_a_way_on_that_is_hard_to_find(tmp_path: Path) -> None:
    write(tmp_path, 0, 10**9, "assume=c.by == 5*10**8, x=0")
    outcome = run("induct", "wide.py:WIDE", "--max-k", "3", cwd=tmp_path)
    assert outcome.code == 3
    assert "by has too many values to try them all" in outcome.stdout


@pytest.mark.parametrize("high", ["3", "lambda s: s.mode", "lambda s: Mode.Busy", "lambda s: np.int64(3)", "None"])
@pytest.mark.parametrize("command", [("explore", "--w", "1"), ("bmc", "--depth", "2")])
def test_an_end_that_is_no_number_is_refused(high: str, command: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path, 0, high, "x=c.by")
    outcome = run_script(command[0], "wide.py:WIDE", *command[1:], cwd=tmp_path)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "the greatest value of by is" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
