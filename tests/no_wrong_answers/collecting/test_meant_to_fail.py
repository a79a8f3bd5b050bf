"""What is meant to fail is a hypothesis of nothing else: what rests on it fails, in pytest and on the command line."""

import json

import pytest

from tests.liveness.proofs import ROOT
from tests.sampling import every
from tests.testing.project import Project
from tests.testing.test_failing import expecting

MARK = (
    '@expect_verdict("{verdict}")\n@proof.invariant\ndef {name}(s):\n    """It is false."""\n    return {claim}\n\n\n'
)
COUNTER = """
from dataclasses import replace

from fdverify.logic import And, If, Implies, Not
from fdverify.models.model import Model
from fdverify.models.system import Flag, Integers, Parameter, Phase, Property, System, Variable, update
from fdverify.proofs import EventuallyAlways, LeadsTo, Proof, expect_verdict

N = Parameter("n", 1, None, "how far it counts")


def more(s, c):
    # It counts as often as it could have been asked to, which is never too far; to show that takes a conjunct.
    return And(c.go, s.z < s.n)


def build(n):
    return System(
        name="counter",
        options={},
        parameters=(replace(N, value=n),),
        variables=(
            Variable("x", Integers(), initial=lambda s: 0),
            Variable("y", Integers(), initial=lambda s: 0),
            Variable("z", Integers(), initial=lambda s: 0),
        ),
        phases=(
            Phase("count", lambda s, c: update(x=If(more(s, c), s.x + 1, s.x), z=s.z + 1), (Flag("go"),)),
            Phase("follow", lambda s, c: update(y=If(s.x > s.n, s.y - 1, s.y))),
        ),
        properties=(Property("natural", lambda s: s.y >= 0, "y is natural"),),
    )


proof = Proof(Model("counter", "it counts", (N,), (), "natural", build), goal="natural")


"""
BREAKING = COUNTER.replace("And(c.go, s.z < s.n)", "c.go")
"""It counts too far, and breaks the goal."""
NATURAL = '@proof.invariant\ndef natural_y(s):\n    """y is natural."""\n    return s.y >= 0\n\n\n'
HARMLESS = '@proof.invariant\ndef natural_x(s):\n    """x is natural."""\n    return s.x >= 0\n\n\n'


def marked(verdict: str, claim: str, name: str = "doubted") -> str:
    return MARK.format(verdict=verdict, name=name, claim=claim)


CASES = {
    "a conjunct rests on it": (
        COUNTER + NATURAL + marked("not-inductive", "s.x <= s.n"),
        {"natural_y-step"},
    ),
    "a conjunct rests on one that is written before it": (
        COUNTER + marked("not-inductive", "s.x <= s.n") + NATURAL,
        {"natural_y-step"},
    ),
    "the goal rests on it": (
        COUNTER + HARMLESS + marked("not-inductive", "And(s.y >= 0, s.x <= s.n)"),
        {"goal"},
    ),
    "one that is meant to fail rests on another": (
        COUNTER + NATURAL + marked("not-inductive", "s.x <= s.n") + marked("not-inductive", "s.x <= s.n + 1", "other"),
        {"natural_y-step"},
    ),
    "nothing rests on it": (
        COUNTER.replace("If(s.x > s.n, s.y - 1, s.y)", "s.y + 1") + NATURAL + marked("not-inductive", "s.x <= s.n"),
        set[str](),
    ),
    "it is violated, and so is the goal": (
        BREAKING + HARMLESS + marked("violated", "s.y >= 0"),
        set[str](),
    ),
    "it is violated, and a conjunct rests on it": (
        BREAKING
        + marked("violated", "And(s.y >= 0, s.x <= s.n)")
        + NATURAL.replace("natural_y", "small").replace("s.y >= 0", "s.x <= s.n"),
        {"small-step"},
    ),
    "a false one proves nothing": (
        COUNTER + NATURAL + marked("not-inductive", "s.x < 0"),
        {"natural_y-step"},
    ),
}


@pytest.mark.parametrize(("text", "failing"), every(9, list(CASES.values())), ids=every(9, list(CASES)))
def test_what_rests_on_it_fails(project: Project, text: str, failing: set[str]) -> None:
    project.write(proof_mine=text)
    found = project.pytest("-k", "not vacuity")
    failed = {nodeid.partition("::")[2] for nodeid in found.failed}
    assert failed - {"no-dead-end", "phases"} == failing, found.out
    (proof,) = json.loads(project.verify_invariant("proof_mine.py", "--json").out)["proofs"]
    unproved = {each["name"] for each in proof["obligations"] if each["verdict"] != "proved"}
    assert failing <= unproved
    assert unproved - failing <= {"doubted-init", "doubted-step", "other-step", "goal"}, "those that were meant to"
    assert proof["verdict"] in ("not-inductive", "violated")


@pytest.mark.slow
def test_the_failure_says_what_was_left_out(project: Project) -> None:
    project.write(proof_mine=CASES["a conjunct rests on it"][0])
    told = "natural_y holds with all other conjuncts but what is meant to fail (doubted), and is false after this round"
    assert told in project.pytest("-k", "natural_y").out
    assert told in project.verify_invariant("proof_mine.py").out


@pytest.mark.slow
def test_with_more_rounds_it_is_no_hypothesis_either(project: Project) -> None:
    project.write(proof_mine=CASES["a conjunct rests on it"][0])
    document = json.loads(project.verify_invariant("proof_mine.py", "--k", "2", "--json").out)
    by_name = {each["name"]: each["verdict"] for each in document["proofs"][0]["obligations"]}
    assert by_name["natural_y-step"] != "proved"


@pytest.mark.slow
def test_a_premise_does_not_rest_on_it(project: Project) -> None:
    """A liveness proof whose premises need a conjunct that is meant to fail."""
    source = (ROOT / "invariants" / "eventual_trust.py").read_text()
    project.write(proof_mine=expecting("not-inductive", source, "@proof.invariant", "suspected_after_timeout"))
    document = json.loads(project.verify_invariant("proof_mine.py", "--json").out)
    unproved = {each["name"] for each in document["proofs"][0]["obligations"] if each["verdict"] != "proved"}
    assert {"suspects-after-timeout", "guard-trusts"} & unproved
