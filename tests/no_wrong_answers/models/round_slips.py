"""Slips in the rounds of an algorithm of N processes: rules and updates that are no functions of their arguments."""

from __future__ import annotations

_IMPORTS = """import itertools
import operator
import random
from dataclasses import replace

from fdverify.cutoff.chandra_toueg_template import chandra_toueg
from fdverify.cutoff.rounds import Rounds
from fdverify.logic import And, If, Implies, Not, Or

one = 1
"""


def _rule(body: str, prelude: str = "") -> str:
    """Rounds with one more rule of scheduling."""
    lines = "\n".join(f"            {line}" for line in body.splitlines())
    return f"""{_IMPORTS}{prelude}

class Slipped(Rounds):
    def schedule(self, of, c, chosen):
        step = super().schedule(of, c, chosen)

        def rule(p, q):
{lines}

        return replace(step, rules={{**step.rules, "one-more": rule}})


TEMPLATE = replace(chandra_toueg(), name="slipped", rounds=Slipped())
"""


def _value(body: str, prelude: str = "") -> str:
    """Rounds in which what a process knows of a peer changes in another way."""
    return f"""{_IMPORTS}{prelude}

class Slipped(Rounds):
    def receive(self, of, c, chosen):
        step = super().receive(of, c, chosen)

        def value(p, q):
            return {body}

        return replace(step, after=replace(step.after, value=value))


TEMPLATE = replace(chandra_toueg(), name="slipped", rounds=Slipped())
"""


_COUNTS = "\n\nCALLS = []\n"
ROUND_SLIPS: dict[str, str] = {
    "rule/is-one": _rule("return Not(And(p is one, chosen.schedule(p)))"),
    "rule/is-one-in-python": _rule("return Implies(chosen.schedule(p), chosen.schedule(1) if p is one else True)"),
    "rule/is-other": _rule("return Or(p is not q, Not(chosen.schedule(p)))"),
    "rule/is-by-operator": _rule("return Not(And(operator.is_(p, one), chosen.schedule(p)))"),
    "rule/isinstance": _rule("return Not(And(isinstance(p, int), chosen.schedule(p)))"),
    "rule/type": _rule("return Not(And(type(p) is int, chosen.schedule(p)))"),
    "rule/text": _rule('return Not(And(str(p) == "1", chosen.schedule(p)))'),
    "rule/f-string": _rule('return Not(And(f"{p}" == "1", chosen.schedule(p)))'),
    "rule/hasattr": _rule('return Not(And(hasattr(p, "bit_length"), chosen.schedule(p)))'),
    "rule/match": _rule("match p:\n    case int():\n        return Not(chosen.schedule(p))\nreturn True"),
    "rule/caught": _rule(
        "try:\n    p.bit_length()\nexcept AttributeError:\n    return True\nreturn Not(chosen.schedule(p))"
    ),
    "rule/memory": _rule("CALLS.append(1)\nreturn Or(len(CALLS) < 1000, Not(chosen.schedule(p)))", _COUNTS),
    "rule/default": _rule("calls.append(1)\nreturn Or(len(calls) % 2 == 0, Not(chosen.schedule(p)))").replace(
        "def rule(p, q)", "def rule(p, q, calls=[])"
    ),
    "rule/enclosed-list": _rule("calls.append(1)\nreturn Or(len(calls) % 2 == 0, Not(chosen.schedule(p)))").replace(
        "        def rule(p, q)", "        calls = []\n\n        def rule(p, q)"
    ),
    "rule/nonlocal": _rule("nonlocal calls\ncalls += 1\nreturn Or(calls % 2 == 0, Not(chosen.schedule(p)))").replace(
        "        def rule(p, q)", "        calls = 0\n\n        def rule(p, q)"
    ),
    "rule/enclosed-iterator": _rule("return Or(next(turns), Not(chosen.schedule(p)))").replace(
        "        def rule(p, q)", "        turns = itertools.cycle([True, False])\n\n        def rule(p, q)"
    ),
    "rule/attribute-of-self": _rule(
        "self.calls = getattr(self, 'calls', 0) + 1\nreturn Or(self.calls % 2 == 0, Not(chosen.schedule(p)))"
    ),
    "rule/count": _rule("return Or(next(COUNT) % 2 == 0, Not(chosen.schedule(p)))", "\n\nCOUNT = itertools.count()\n"),
    "rule/random": _rule("return Or(random.random() < 0.5, Not(chosen.schedule(p)))"),
    "value/is-one": _value("If(p is one, c.value(p, q), step.after.value(p, q))"),
    "value/isinstance": _value("c.value(p, q) if isinstance(p, int) else step.after.value(p, q)"),
    "value/text": _value('c.value(p, q) if str(p) == "1" else step.after.value(p, q)'),
    "value/memory": _value("step.after.value(p, q) if CALLS.append(1) or len(CALLS) % 2 else c.value(p, q)", _COUNTS),
}

HONEST_ROUNDS: dict[str, str] = {
    "local-list": _rule("parts = []\nparts.append(Not(chosen.schedule(p)))\nparts.append(True)\nreturn Or(*parts)"),
    "constant-default": _rule("return Or(Not(chosen.schedule(p)), *kinds)").replace(
        "def rule(p, q)", "def rule(p, q, kinds=[True])"
    ),
    "enclosed-list": _rule("return Or(Not(chosen.schedule(p)), *parts)").replace(
        "        def rule(p, q)", "        parts = [True]\n        parts.append(False)\n\n        def rule(p, q)"
    ),
    "innermost-function": _rule("parts = []\n\ndef add(part):\n    parts.append(part)\n\nadd(True)\nreturn Or(*parts)"),
    "inner-function": _rule("def rests(index):\n    return Not(chosen.schedule(index))\n\nreturn Or(rests(p), True)"),
    "helper": _rule(
        "return made(p, chosen)", "\n\ndef made(p, chosen):\n    return Or(Not(chosen.schedule(p)), True)\n"
    ),
    "closure": _rule("return made(True)(p)", "\n\ndef made(value):\n    return lambda p: Or(value, p == p)\n"),
}
