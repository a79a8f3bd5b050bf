"""Slips in an argument for liveness: in the goal, in its terms, in what is fair, and in a detector's functions."""

from __future__ import annotations

from dataclasses import dataclass

MODEL = """from dataclasses import replace
from fdverify.logic import If, Or, Not, And
from fdverify.models.model import Model
from fdverify.models.system import Flag, Flags, Integers, Phase, Property, System, Variable, update


def go(s, c):
    return update(x=If(c.go, {end}, s.x), went=c.go)


def build():
    return System(
        name="going",
        options={{}},
        parameters=(),
        variables=(
            Variable("x", Integers(), initial=lambda s: 0, range=lambda s: And(s.x >= 0, s.x <= 3)),
            Variable("went", Flags(), initial=lambda s: False),
        ),
        phases=(Phase("go", go, (Flag("go"),)),),
        properties=(Property("claim", lambda s: s.x <= 3, "x is small"),),
        liveness=(Property("ends", lambda s: s.x == 3, "x is 3"),),
        fairness=(Property("goes", lambda s: {fair}, "it goes"),),
    )


MODEL = Model("going", "a model", (), (), "claim", build, "ends")
"""
PROOF = """from fdverify.logic import And, If, Not, Or
from fdverify.liveness.goals import LeadsTo
from fdverify.proofs import Proof

CALLS = []


def begun(s):
    "It has begun."
    return {begun}


def ends(s):
    "It ends."
    return {ends}


proof = Proof("model_of_it.py:MODEL", goal=LeadsTo(begun, ends), by="fair-ranking")


@proof.term
def done(s):
    return {done}


@proof.term
def rank(s):
    return {rank}


@proof.term
def helpful(s):
    return {{"goes": {helps}}}


@proof.invariant
def small(s):
    "x is 0 or at its end."
    return Or(s.x == 0, s.x == {end})
"""


@dataclass(frozen=True)
class Argument:
    """A model that goes from 0 to its end, and an argument that it comes to 3."""

    end: int = 3
    fair: str = "s.went"
    begun: str = "s.x >= 0"
    ends: str = "s.x == 3"
    done: str = "s.x == 3"
    rank: str = "(If(s.x == 3, 0, 1),)"
    helps: str = "s.x != 3"

    def model(self) -> str:
        return MODEL.format(**vars(self))

    def proof(self) -> str:
        return PROOF.format(**vars(self))


_TYPED = 'Or(s.x == 3, type(s.x).__name__ != "int")'
_ATTRIBUTED = 'Or(s.x == 3, hasattr(s.x, "term"))'
_COUNTED = "Or(s.x == 3, CALLS.append(1) is None and len(CALLS) > 3)"
LIVE_SLIPS: dict[str, Argument] = {
    "goal/type": Argument(end=1, ends=_TYPED, done=_TYPED),
    "goal/hasattr": Argument(end=1, ends=_ATTRIBUTED, done=_ATTRIBUTED),
    "goal/memory": Argument(end=1, ends=_COUNTED, done=_COUNTED),
    "goal/is": Argument(end=1, begun="Or(s.went is True, s.x == 9)"),
    "done/isinstance": Argument(done="And(s.x == 3, Not(isinstance(s.x, int)))"),
    "rank/isinstance": Argument(rank="(If(s.x == 3, 0, 2 if isinstance(s.x, int) else 1),)"),
    "rank/text": Argument(rank='(If(s.x == 3, 0, 5 if str(s.x) == "0" else 1),)'),
    "rank/memory": Argument(rank="(If(s.x == 3, 0, 1 if CALLS.append(1) is None else 2),)"),
    "helpful/type": Argument(helps="Or(s.x != 3, type(s.x) is int)"),
    "helpful/is": Argument(helps="Or(s.x != 3, s.went is False)"),
    "fairness/is": Argument(fair="Or(s.went, s.went is False)"),
    "fairness/hasattr": Argument(fair='Or(s.went, hasattr(s.x, "bit_length"))'),
}
