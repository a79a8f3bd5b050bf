"""Rounds of one's own that look at more than the values of indexes are refused; the others are left to the lemmas."""

from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from fdverify.cutoff.round_agreement import check_round_sources
from fdverify.cutoff.rounds import Rounds
from fdverify.errors import UsageError
from fdverify.models.loading import load_module
from tests.cli.script import run
from tests.cutoff.broken import BROKEN
from tests.sampling import every

_FILE = """
import array
import itertools
import operator
import random
from dataclasses import replace
from fdverify.cutoff.chandra_toueg_template import chandra_toueg
from fdverify.cutoff.rounds import Rounds
from fdverify.cutoff.concrete_interpretation import ConcreteInterpretation
from fdverify.logic import And, If, Implies, Not, Or

COUNT = [0]
ONE = 1

def is_first(p):
    return p == 1

class Counting:
    calls = []

    def __init__(self):
        self.n = 0

    def __call__(self, p, q):
        self.n += 1
        return self.n < 99

    def note(self):
        type(self).calls.append(1)
        return len(self.calls) < 99

def counting():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n < 99
    return count

def endless():
    while True:
        yield True

class Own(Rounds):
    calls = 0

    def schedule(self, of, c, chosen):
        step = super().schedule(of, c, chosen)
        kept = {kept}

        def own(p, q):
{body}

        return replace(step, rules={{**step.rules, "own": own, "kept": kept}})

OWN = replace(chandra_toueg(), name="own", rounds=Own())
"""

REFUSED = {
    "identity": "return Implies(chosen.schedule(p), p is not ONE)",
    "identity of two": "return Implies(chosen.schedule(p), Not(p is q))",
    "identity of a location": "return Implies(c.location(p) is of.crashed, Not(chosen.schedule(p)))",
    "type": "return Not(chosen.schedule(p)) if isinstance(p, int) else True",
    "type of the interpretation": "return Not(chosen.schedule(p)) if isinstance(of, ConcreteInterpretation) else True",
    "type by name": "return type(p).__name__ != 'int'",
    "text": "return Implies(chosen.schedule(p), str(p) != '1')",
    "text of a location": "return Implies(chosen.schedule(p), f'{c.location(p)}' != 'l1')",
    "attribute": "return hasattr(p, 'term')",
    "hash": "return hash(p) != 1",
    "key": "return {1: True}.get(p, False)",
    "member": "return p in (1, 2)",
    "match": "match p:\n    case 1:\n        return False\nreturn True",
    "exception": "try:\n    return (True, False)[p]\nexcept Exception:\n    return True",
    "branch": "return True if p == q else chosen.schedule(p)",
    "memory": "COUNT[0] += 1\nreturn COUNT[0] < 5",
    "memory of the class": "Own.calls += 1\nreturn Own.calls < 5",
    "memory of the rounds": "self.calls += 1\nreturn self.calls < 5",
    "chance": "return random.random() < 2",
    "nested": "return c.some(lambda one: Not(one is p))",
    "conversion": "return int(p) > 0",
}
REMEMBERED = {
    "list": ("[]", "kept.append(1)\nreturn len(kept) < 99"),
    "list under another name": ("[]", "mine = kept\nmine.append(1)\nreturn len(kept) < 99"),
    "list that grows": ("[]", "mine = kept\nmine += [1]\nreturn len(kept) < 99"),
    "list in a list": ("[[]]", "for row in kept:\n    row.append(1)\nreturn len(kept[0]) < 99"),
    "item": ("[0]", "kept[0] += 1\nreturn kept[0] < 99"),
    "item that is deleted": ("[0] * 99", "del kept[0]\nreturn len(kept) > 0"),
    "entry": ("{'calls': 0}", "kept.update(calls=kept['calls'] + 1)\nreturn kept['calls'] < 99"),
    "list of a helper": ("[]", "def note(of):\n    of.append(1)\nnote(kept)\nreturn len(kept) < 99"),
    "method": ("[]", "add = kept.append\nadd(1)\nreturn len(kept) < 99"),
    "method of the class": ("[]", "list.append(kept, 1)\nreturn len(kept) < 99"),
    "iterator": ("iter(range(99))", "return next(kept, 99) < 98"),
    "iterator that is gone through": ("iter(range(99))", "return Or(*(chosen.schedule(p) for _ in kept))"),
    "generator": ("(p for p in range(99))", "return Or(*(chosen.schedule(p) for _ in zip((1,), kept)))"),
    "counter": ("itertools.count()", "return [k < 99 for k, _ in zip(kept, (1,))][0]"),
    "object": ("Counting()", "return kept(p, q)"),
    "object as a rule": ("Counting()", "return True"),
    "method of an object": ("Counting().__call__", "return kept(p, q)"),
    "class of an object": ("Counting()", "return kept.note()"),
    "function of a helper": ("counting()", "return kept()"),
    "generator of a helper": ("endless()", "for each in kept:\n    return each"),
    "item by an operator": ("[0]", "operator.setitem(kept, 0, kept[0] + 1)\nreturn kept[0] < 99"),
    "list by an operator": ("[]", "operator.iadd(kept, [1])\nreturn len(kept) < 99"),
    "array": ("array.array('i')", "kept.append(1)\nreturn len(kept) < 99"),
}
ACCEPTED = {
    "comparison": "return Implies(And(chosen.schedule(p), chosen.schedule(q)), p == q)",
    "number": "return Implies(chosen.schedule(p), chosen.schedule(1))",
    "helper": "return Implies(is_first(p), chosen.schedule(p))",
    "order": "return Implies(p < q, chosen.schedule(p))",
    "some": "return c.some(lambda one: And(Not(one == p), c.active(one)))",
    "rules of the class": "return And(*(rule(p, q) for rule in step.rules.values()))",
    "several": "tests = []\nfor index in (p, q):\n    tests.append(chosen.schedule(index))\nreturn Or(*tests)",
    "copy": "tests = list(step.rules)\ntests.append('own')\ntests += ['other']\nreturn len(tests) > 0",
    "sum": "total = ONE\ntotal += 1\nreturn Or(p == total, chosen.schedule(p))",
}


def written(folder: Path, body: str, kept: str = "None") -> Path:
    file = folder / "own.py"
    file.write_text(_FILE.format(body=indent(body, " " * 12), kept=kept))
    return file


def rounds_in(folder: Path, body: str, kept: str = "None") -> Rounds:
    found: Rounds = load_module(written(folder, body, kept)).OWN.rounds
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_a_rule_that_looks_at_more_than_values_is_refused(name: str, tmp_path: Path) -> None:
    rounds = rounds_in(tmp_path, REFUSED[name])
    first = 1 + _FILE.splitlines().index("{body}")
    with pytest.raises(UsageError, match=r"own\.py:\d+: round Own\.schedule ") as refused:
        check_round_sources(rounds)
    place = refused.value.place
    assert place is not None
    assert place.line is not None
    assert first <= place.line < first + len(REFUSED[name].splitlines())
    assert refused.value.hint


@pytest.mark.parametrize("name", REMEMBERED)
def test_a_rule_that_remembers_is_refused(name: str, tmp_path: Path) -> None:
    kept, body = REMEMBERED[name]
    with pytest.raises(UsageError, match=r"own\.py:\d+: round Own\.schedule "):
        check_round_sources(rounds_in(tmp_path, body, kept))


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_rule_of_values_is_left_to_the_lemmas(name: str, tmp_path: Path) -> None:
    check_round_sources(rounds_in(tmp_path, ACCEPTED[name]))


@pytest.mark.parametrize("kind", [Rounds, *BROKEN])
def test_rounds_that_the_lemmas_decide_are_read(kind: type[Rounds]) -> None:
    check_round_sources(kind())


def test_rounds_without_source_are_refused() -> None:
    names: dict[str, Any] = {"Rounds": Rounds}
    exec("class Own(Rounds):\n    def send(self, of, c, chosen):\n        return super().send(of, c, chosen)", names)
    with pytest.raises(UsageError, match=r"Own\.send: not all of its source can be read"):
        check_round_sources(names["Own"]())


def test_a_method_of_one_object_is_read() -> None:
    rounds = Rounds()
    own: Callable[..., Any] = lambda of, c, chosen: Rounds.compute(rounds, of, c, chosen) if c is of else None  # noqa: E731
    object.__setattr__(rounds, "compute", own)
    with pytest.raises(UsageError, match=r"test_round_sources\.py:\d+: round Rounds\.compute "):
        check_round_sources(rounds)


@pytest.mark.parametrize("name", every(3, ["identity", "memory", "type", "text"]))
def test_the_command_line_says_where(name: str, tmp_path: Path) -> None:
    outcome = run("cutoff", f"{written(tmp_path, REFUSED[name])}:OWN", "--property", "strong-accuracy")
    assert outcome.code == 2
    assert "own.py:" in outcome.stderr
    assert "hint: " in outcome.stderr


def test_what_names_an_index_is_still_refuted() -> None:
    example = Path(__file__).parents[3] / "examples" / "broken_rounds.py"
    outcome = run("cutoff", f"{example}:FAVOURED", "--property", "strong-accuracy")
    assert outcome.code == 1
    assert "first-too" in outcome.stdout
