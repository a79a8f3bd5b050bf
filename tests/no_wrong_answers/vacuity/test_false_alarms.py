"""What is called vacuous must be: where little was looked at, more is; and what rightly never happens is a note."""

from collections.abc import Callable
from typing import Any

import pytest

from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG
from fdverify.logic import And, If, Implies, Not, Or, Truth
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Flags,
    Integers,
    Parameter,
    Phase,
    Property,
    State,
    Subset,
    System,
    Update,
    Variable,
    update,
)
from fdverify.obligations.inductive import Invariant
from fdverify.obligations.vacuity import VacuityReport, check_vacuity
from fdverify.proofs import Proof
from fdverify.verdict import Verdict
from tests.sampling import every


def verdicts(found: VacuityReport) -> dict[str, Verdict]:
    return {each.name: each.verdict for each in found.obligations}


def of_detector(assumption: Callable[[Any], Truth]) -> VacuityReport:
    proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy")

    def assumed(s: State) -> Truth:
        """What the test assumes."""
        return assumption(s)

    def trusted(s: State) -> Truth:
        """The receiver trusts the sender."""
        return Not(s.suspected)

    proof.assumption(assumed)
    proof.invariant(trusted)
    return check_vacuity(proof.build_invariant({}, {}))


ASSUMED: dict[str, Callable[[Any], Truth]] = {
    "no small speed": lambda s: s.phi >= 4,
    "no small speed by far": lambda s: s.phi >= 9,
    "a delay that depends": lambda s: And(s.phi >= 4, s.delta < s.phi),
    "twice": lambda s: And(s.phi >= 4, s.delta % 2 == 0),
    "both": lambda s: And(s.phi >= 4, s.delta + s.phi >= 5),
}


@pytest.mark.parametrize("assumption", every(3, list(ASSUMED.values())), ids=every(3, list(ASSUMED)))
def test_messages_that_grow_older_only_at_larger_delays(assumption: Callable[[Any], Truth]) -> None:
    """The smallest instance has Δ = 0, where ageing does nothing."""
    found = of_detector(assumption)
    assert verdicts(found)["phases"] is Verdict.PROVED
    assert "age_messages" not in found.idle


def test_an_author_who_samples_the_least_delay_only() -> None:
    delta = Parameter("delta", 0, None, small=(0,))
    found = check_vacuity(judged(delta, ageing=True))
    assert "age" not in found.idle
    assert verdicts(found)["phases"] is Verdict.PROVED


def judged(*parameters: Parameter, ageing: bool = False, fires: bool = False, goal: Any = None) -> Invariant:
    """A counter up to n, and a judge of it."""
    n = Parameter("n", 1, None)

    def count(s: State, c: Choices) -> Update:
        return update(x=If(c.go, If(s.x < s.n, s.x + 1, 0), s.x))

    def judge(s: State, c: Choices) -> Update:
        return update(bad=Or(s.bad, s.x > s.n - (1 if fires else 0)))

    def send(s: State, c: Choices) -> Update:
        return update(buffer=s.buffer.send(when=c.sends).deliver(c.taken))

    buffer = Variable("buffer", Ages("predicate", "delta"), initial=lambda s: ())
    phases = (Phase("count", count, (Flag("go"),)), Phase("judge", judge))
    more = (
        Phase("age", lambda s, c: update(buffer=s.buffer.age())),
        Phase("send", send, (Flag("sends"), Subset("taken", of="buffer"))),
    )
    system = System(
        name="judged",
        options={},
        parameters=(*parameters, n),
        variables=(
            Variable("x", Integers(), initial=lambda s: 0, range=lambda s: And(s.x >= 0, s.x <= s.n)),
            Variable("bad", Flags(), initial=lambda s: False),
            *((buffer,) if ageing else ()),
        ),
        phases=(*phases, *(more if ageing else ())),
        properties=(),
    )
    claim = Property("fine", goal or (lambda s: Not(s.bad)), "nothing bad was seen")
    return Invariant(system, claim, (Property("good", lambda s: Not(s.bad), "it is good"),))


def test_a_judge_that_never_fires_is_a_note() -> None:
    """That it does not is what is proved."""
    found = check_vacuity(judged())
    assert verdicts(found)["phases"] is Verdict.PROVED
    assert found.idle == ("judge",)
    assert check_vacuity(judged(fires=True)).idle == ()


def test_where_nothing_ever_changes_the_proof_is_vacuous() -> None:
    system = System(
        name="still",
        options={},
        parameters=(Parameter("n", 0, None),),
        variables=(Variable("x", Integers(), initial=lambda s: 0),),
        phases=(Phase("stay", lambda s, c: update(x=s.x)), Phase("rest", lambda s, c: update())),
        properties=(),
    )
    zero = Property("zero", lambda s: s.x == 0, "x is 0")
    found = check_vacuity(Invariant(system, zero, (zero,)))
    assert verdicts(found)["phases"] is Verdict.VACUOUS
    assert found.detail.startswith("no phase changed anything in the runs looked at")


@pytest.mark.parametrize("least", [3, 4, 7, 11])
def test_a_premise_that_takes_large_parameters_is_met(least: int) -> None:
    found = check_vacuity(judged(goal=lambda s: Implies(s.x >= least, s.n >= least)))
    assert verdicts(found)["goal-premise"] is Verdict.PROVED
    (witness,) = found.witnesses
    assert len(witness.run.rounds) == least


@pytest.mark.parametrize("impossible", [lambda s: s.x > s.n, lambda s: s.bad, lambda s: s.x < 0])
def test_a_premise_that_is_never_met_is_vacuous(impossible: Callable[[State], Truth]) -> None:
    found = check_vacuity(judged(goal=lambda s: Implies(impossible(s), s.n < 0)))
    assert verdicts(found)["goal-premise"] is Verdict.VACUOUS


def test_the_shipped_detector_has_no_idle_phase() -> None:
    assert CHANDRA_TOUEG.parameters
    assert of_detector(lambda s: s.phi >= 1).idle == ()
