"""The texts that slips and honest models are put into: a model, and a proof about it."""

from __future__ import annotations

from dataclasses import dataclass

PROOF_NAME, MODEL_NAME = "proof_of_it.py", "model_of_it.py"

_IMPORTS = """import contextlib
import copy
import datetime
import functools
import itertools
import json
import math
import numbers
import operator
import os
import pathlib
import random
import time
import uuid
from collections import namedtuple
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache, lru_cache, partial, reduce, singledispatch

from fdverify.logic import And, If, Iff, Implies, Max, Min, Not, Or
from fdverify.models.model import Model
from fdverify.models.system import (
    Ages, Amount, Flag, Flags, Integers, Labels, Parameter, Phase, Property, Subset, System, Variable, update,
)


class Sender(IntEnum):
    Up = 0
    Crashed = 1
"""


@dataclass(frozen=True)
class Parts:
    """What a text is made of; by default a model without a slip, in which x stays below 3."""

    prelude: str = ""
    """Definitions that the rest uses."""
    before: str = ""
    """Statements of the phase before it returns."""
    jump: str = "False"
    """When x jumps to 9."""
    following: str = "(s.x + 1) % 3"
    """What x becomes else."""
    assume: str = "True"
    jump_when: str = "True"
    """When the choice ``jump`` may be made, which is free."""
    taken_when: str = "True"
    most: str = ""
    """The greatest value of the choice ``more``, if there is one; the least is 0."""
    initial: str = "0"
    range: str = "And(s.x >= 0, s.x <= 9)"
    cap: str = ""
    """More of the declaration of x."""
    claim: str = "s.x < 3"
    assumption: str = ""
    fairness: str = ""
    conjunct: str = "s.x < 3"
    proof_prelude: str = ""
    proof_assumption: str = ""

    def model(self) -> str:
        more = f'Amount("more", lambda s: 0, lambda s: {self.most}),' if self.most else ""
        assumed = f'Property("assumed", lambda s: {self.assumption}, "an assumption"),' if self.assumption else ""
        return f"""{_IMPORTS}{self.prelude}

def step(s, c):
{self.before}    return update(
        assume={self.assume},
        x=If({self.jump}, 9, {self.following}),
        f=c.g,
        sender=If(c.crash, Sender.Crashed, Sender.Up),
        b=s.b.deliver(c.taken).age().send(when=c.g),
    )


def claim(s):
    return {self.claim}


def build(delta):
    return System(
        name="written",
        options={{}},
        parameters=(Parameter("delta", least=0, value=delta),),
        variables=(
            Variable("x", Integers(), initial=lambda s: {self.initial}, range=lambda s: {self.range}{self.cap}),
            Variable("f", Flags(), initial=lambda s: False),
            Variable("sender", Labels(Sender), initial=lambda s: Sender.Up),
            Variable("b", Ages("predicate", bound="delta"), initial=lambda s: frozenset()),
        ),
        phases=(
            Phase(
                "step",
                step,
                (
                    Flag("g"),
                    Flag("crash"),
                    Flag("jump", when=lambda s: {self.jump_when}),
                    Subset("taken", of="b", when=lambda s: {self.taken_when}),
                    {more}
                ),
            ),
        ),
        properties=(Property("claim", claim, "what is claimed"),),
        assumptions=({assumed}),
    )


MODEL = Model("written", "a model", (Parameter("delta", least=0, value=None),), (), "claim", build)
"""

    def proof(self) -> str:
        assumption = ""
        if self.proof_assumption:
            assumption = (
                f"\n\n@proof.assumption\ndef assumed(s):\n    'An assumption.'\n    return {self.proof_assumption}\n"
            )
        return f"""{_IMPORTS}
from fdverify.proofs import Proof
{self.proof_prelude}
proof = Proof("{MODEL_NAME}:MODEL", goal="claim")
{assumption}

@proof.invariant
def conjunct(s):
    "What helps."
    return {self.conjunct}
"""
