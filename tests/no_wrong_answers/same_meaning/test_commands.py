"""The slip through every command: bad input, with the place, whatever the engine would have said."""

import json
from pathlib import Path

import pytest

from fdverify.app import run as fdverify
from fdverify.verify_invariant import run as verify_invariant
from tests.sampling import every

HEAD = """
from enum import IntEnum

from fdverify.logic import And, If, Not
from fdverify.models.model import Model, Option
from fdverify.models.system import Flag, Flags, Integers, Labels, Parameter, Phase, Property, System, Variable, update
from fdverify.proofs import Proof


class Pc(IntEnum):
    A = 0
    B = 1


calls = []
"""
TAIL = """
SMALL = Property("small", {holds}, "x is small")


LIMIT = Parameter("limit", 1, None, "what nothing depends on")


def build(limit, **options):
    return System(
        name="small",
        options={{}},
        parameters=(Parameter("limit", 1, limit),),
        variables=(
            Variable("f", Flags(), lambda s: True),
            Variable("x", Integers(), lambda s: 0),
            Variable("pc", Labels(Pc), lambda s: Pc.A),
        ),
        phases=(Phase("step", step, (Flag("g", {when}),)),),
        properties=(SMALL,),
        liveness=(SMALL,),
    )


TIMEOUT = Option("timeout", "none", "1")
MODEL = Model("small", "a small model", (LIMIT,), (TIMEOUT,), "small", build, default_liveness="small")
proof = Proof(MODEL, goal="small")


@proof.invariant
def stays_small(s):
    '''x is small.'''
    return {conjunct}
"""
STEP = "def step(s, c):\n    return update(x={x}, f=c.g, pc=If(c.g, Pc.A, Pc.B))\n"
RIGHT = {"x": "(s.x + 1) % 3", "holds": "lambda s: s.x < 3", "when": "lambda s: s.x < 3", "conjunct": "s.x < 3"}
SLIPS = {
    "identity in a phase": {"x": "If(s.f is False, 9, (s.x + 1) % 3)"},
    "label in a phase": {"x": "If(s.pc is Pc.B, 9, (s.x + 1) % 3)"},
    "type in a phase": {"x": "(s.x + 1) % 3 if isinstance(s.x, int) else s.x"},
    "memory in a phase": {"x": "(calls.append(1), (s.x + 1) % (2 + len(calls) % 2))[1]"},
    "identity in a condition": {"when": "lambda s: s.f is not True"},
    "identity in a part of a claim": {"holds": "lambda s: And(s.x < 3, Not(s.f is True))"},
    "text in a part of a claim": {"holds": "lambda s: And(s.x < 3, str(s.pc) != 'Pc.B', str(s.pc) != '1')"},
}
COMMANDS = (
    ["explore", "--limit", "1"],
    ["induct"],
    ["bmc", "--depth", "4"],
    ["simulate", "--limit", "1"],
    ["live", "--limit", "1"],
    ["map", "--limit", "1..3"],
    ["infer"],
    ["bounds", "--limit", "1", "--model"],
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def written(folder: Path, **changed: str) -> Path:
    parts = {**RIGHT, **changed}
    path = folder / "small.py"
    path.write_text(HEAD + STEP.format(x=parts["x"]) + TAIL.format(**parts))
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
@pytest.mark.parametrize("slip", every(3, SLIPS))
def test_a_slip_is_bad_input_to_every_command(
    tmp_path: Path, slip: str, command: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    reference = f"{written(tmp_path, **SLIPS[slip])}:MODEL"
    name, *others = command
    arguments = [name, *others, reference] if name == "bounds" else [name, reference, *others]
    assert fdverify(arguments) == 2
    assert "small.py:" in capfd.readouterr().err


@pytest.mark.parametrize("only", [[], ["--only", "stays_small"]], ids=["all", "only"])
@pytest.mark.parametrize("slip", every(3, ["identity in a conjunct", *SLIPS]))
def test_a_slip_is_no_proof(tmp_path: Path, slip: str, only: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    changed = SLIPS.get(slip, {"conjunct": "And(s.x < 3, s.f is not False)"})
    assert verify_invariant([str(written(tmp_path, **changed)), *only]) == 2
    assert "small.py:" in capfd.readouterr().err


def test_the_right_model_passes(tmp_path: Path) -> None:
    reference = f"{written(tmp_path)}:MODEL"
    assert fdverify(["explore", reference, "--limit", "2"]) == 0
    assert fdverify(["induct", reference]) == 0
    assert verify_invariant([str(tmp_path / "small.py")]) == 0


WITHOUT_SOURCE = 'eval("lambda s: s.x < 3")'


def test_what_has_no_source_is_said_to_be_sampled_only(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, holds=WITHOUT_SOURCE)
    note = "goal small has no source to read: it was compared on sampled states only"
    for options in ([], ["--no-cache"], []):  # also when it passed before
        assert verify_invariant([str(path), *options]) == 0
        assert note in capfd.readouterr().out
    assert verify_invariant([str(path), "--json"]) == 0
    (proof,) = json.loads(capfd.readouterr().out)["proofs"]
    assert note in proof["notes"]
    assert fdverify(["explore", f"{path}:MODEL", "--limit", "2", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["notes"] == [note.replace("goal", "property")]


def test_what_writes_files_is_sampled_again_each_time(tmp_path: Path) -> None:
    """What else passed before is not: the tests of known outcomes show that."""
    noting = "lambda s: (open({!r}, 'a').write('x'), s.x < 3)[1]".format(str(tmp_path / "calls"))
    path = written(tmp_path, conjunct="NOTED(s)")
    path.write_text(f"NOTED = eval({noting!r})\n{path.read_text()}")

    def calls(*options: str) -> int:
        (tmp_path / "calls").write_text("")
        assert verify_invariant([str(path), *options]) == 0
        return len((tmp_path / "calls").read_text())

    assert calls() == calls() > 0
