"""A claim about what a phase sets to a constant, whatever its sort, is a right claim and not refused."""

from pathlib import Path

import pytest

from tests.no_wrong_answers.models.commands import DELTA, run_command
from tests.sampling import every

MODEL = """from enum import IntEnum

from fdverify.logic import And, Not, Or
from fdverify.models.model import Model
from fdverify.models.system import (
    Ages, Flag, Flags, Integers, Labels, Parameter, Phase, Property, Subset, System, Variable, update,
)


class Mode(IntEnum):
    Idle = 0
    Busy = 1
    Done = 2


def step(s, c):
    return update({sets}, free=c.go)


def build(delta):
    return System(
        name="constant",
        options={{}},
        parameters=(Parameter("delta", least=0, value=delta),),
        variables=(
            Variable("n", Integers(), initial=lambda s: 2, range=lambda s: And(s.n >= 0, s.n <= 3)),
            Variable("f", Flags(), initial=lambda s: False),
            Variable("mode", Labels(Mode), initial=lambda s: Mode.Busy),
            Variable("b", Ages("{encoding}", bound="delta"), initial=lambda s: {{0}}),
            Variable("free", Flags(), initial=lambda s: False),
        ),
        phases=(Phase("step", step, (Flag("go"), Subset("taken", of="b"))),),
        properties=(Property("claim", lambda s: {claim}, "what is claimed"),),
    )


MODEL = Model("constant", "a model", (Parameter("delta", least=0, value=None),), (), "claim", build)
"""
PROOF = """from fdverify.logic import And, Not, Or
from fdverify.proofs import Proof
from constant import Mode

proof = Proof("constant.py:MODEL", goal="claim")


@proof.invariant
def conjunct(s):
    "What helps."
    return {claim}
"""
CONSTANTS = {
    "number": ("n=2", "s.n == 2"),
    "flag": ("f=False", "Not(s.f)"),
    "label": ("mode=Mode.Busy", "s.mode == Mode.Busy"),
    "label-and-flag": ("mode=Mode.Busy, f=False", "s.mode == Mode.Busy"),
    "label-and-number": ("mode=Mode.Busy, n=2", "And(s.mode != Mode.Done, s.n > 1)"),
    "sent": ("b=s.b.deliver(c.taken).send(when=True)", "s.b.has(0)"),
    "sent-and-flag": ("b=s.b.deliver(c.taken).send(when=True), f=False", "And(s.b.has(0), Not(s.b.empty()))"),
    "aged-and-sent": ("b=s.b.age().send(when=True), n=2", "Not(s.b.empty())"),
    "all": ("b=s.b.send(when=True), n=2, f=False, mode=Mode.Busy", "And(s.b.has(0), s.n == 2, s.mode == Mode.Busy)"),
}


@pytest.mark.parametrize("encoding", every(3, ["counter", "predicate", "bitvector"]))
@pytest.mark.parametrize("name", sorted(CONSTANTS))
def test_a_claim_about_a_constant_is_proved(name: str, encoding: str, tmp_path: Path) -> None:
    sets, claim = CONSTANTS[name]
    (tmp_path / "constant.py").write_text(MODEL.format(sets=sets, claim=claim, encoding=encoding))
    (tmp_path / "proof_of_it.py").write_text(PROOF.format(claim=claim))
    arguments = [str(tmp_path / "proof_of_it.py"), "--delta", str(DELTA), "--no-cache", "--jobs", "1"]
    code, _, stderr = run_command("fdverify.verify_invariant", arguments)
    assert code == 0, stderr
