"""A model and its proof in one file, with a place for one more statement wherever an author's code runs."""

from pathlib import Path

PLACES = ("load", "build", "initial", "phase", "property", "conjunct")

_FILE = '''
import os
import signal
import sys
from dataclasses import replace

from fdverify.errors import UsageError
from fdverify.logic import And, If
from fdverify.models.model import Model
from fdverify.models.system import Integers, Parameter, Phase, Property, System, Variable, update
from fdverify.proofs import Proof

BOUND = Parameter("bound", least=1, value=None, meaning="of the counter")


class Odd(BaseException):
    pass


class Mute(Exception):
    def __str__(self):
        raise SystemExit(1)


class Liar(UsageError):
    exit_code = 1

    def __init__(self):
        pass


Torn = type("Torn\\nname", (Exception,), {})


def spin():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def recur():
    return recur()


LOAD


def initial(s):
    INITIAL
    return 0


def tick(s, c):
    PHASE
    return update(x=If(s.x < s.bound, s.x + 1, 0))


def small(s):
    PROPERTY
    return And(s.x >= 0, s.x <= s.bound)


def build(bound):
    BUILD
    return System(
        name="counter",
        options={},
        parameters=(replace(BOUND, value=bound),),
        variables=(Variable("x", Integers(), initial=initial, range=lambda s: s.x >= 0),),
        phases=(Phase("tick", tick),),
        properties=(Property("small", small, "the counter is at most its bound"),),
    )


COUNTER = Model(
    name="counter", summary="counts", parameters=(BOUND,), options=(), default_property="small", build=build
)
proof = Proof(COUNTER, goal="small")


@proof.invariant
def bounded(s):
    """The counter is at most its bound."""
    CONJUNCT
    return And(s.x >= 0, s.x <= s.bound)
'''


def write_hostile(folder: Path, place: str | None = None, statement: str = "pass") -> Path:
    """Write the file with a statement in a place, and with nothing in the others."""
    text = _FILE
    for each in PLACES:
        text = text.replace(each.upper(), statement if each == place else "pass")
    path = folder / "hostile.py"
    path.write_text(text)
    return path
