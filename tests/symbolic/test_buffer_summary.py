"""The summary of a buffer simulates the buffer: operation by operation, on sets and for every Δ."""

from collections.abc import Callable
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.errors import UsageError
from fdverify.logic import And, Implies, Not, Number, Or, Truth
from fdverify.models.buffer import BitvectorBuffer
from fdverify.symbolic.buffer_summary import SummaryBuffer, SummarySelection
from fdverify.symbolic.values import Bool, Int, lift_truth

deltas = st.integers(0, 5)


def summary(buffer: BitvectorBuffer) -> tuple[int, int]:
    ages = buffer.ages()
    return max(ages, default=-1), min(ages, default=buffer.delta + 1)


def of(buffer: BitvectorBuffer) -> SummaryBuffer:
    return SummaryBuffer.from_ages(buffer.delta, buffer.ages())


@given(deltas, st.sets(st.integers(0, 5)), st.booleans())
def test_sending_and_ageing_on_sets(delta: int, ages: set[int], when: bool) -> None:
    buffer = BitvectorBuffer.from_ages(delta, {age for age in ages if age <= delta})
    assert (of(buffer).oldest, of(buffer).youngest) == summary(buffer)
    for done, expected in (
        (of(buffer).send(when), buffer.send(when)),
        (of(buffer).age(when), buffer.age(when)),
        (of(buffer).clear(when), buffer.clear(when)),
    ):
        assert (done.oldest, done.youngest) == summary(expected)
        assert done.is_in_range() is True
        assert done.empty() == expected.empty()


def possible(*facts: Truth) -> bool:
    solver = z3.Solver()
    return bool(solver.check(*(lift_truth(fact) for fact in facts)) == z3.sat)


@given(deltas, st.sets(st.integers(0, 5)), st.data())
def test_every_delivery_from_a_set_is_one_from_its_summary(delta: int, ages: set[int], data: st.DataObject) -> None:
    buffer = BitvectorBuffer.from_ages(delta, {age for age in ages if age <= delta})
    delivered = BitvectorBuffer.from_ages(
        delta, data.draw(st.sets(st.sampled_from(sorted(buffer.ages()) or [0]))) & buffer.ages()
    )
    chosen = SummarySelection(of(buffer), "chosen")
    left = of(buffer)
    left = chosen.source.deliver(chosen)
    (oldest, youngest), (rest_oldest, rest_youngest) = summary(delivered), summary(buffer.deliver(delivered))
    facts = [chosen.within(chosen.source), chosen.oldest == oldest, chosen.youngest == youngest]
    assert possible(*facts, left.oldest == rest_oldest, left.youngest == rest_youngest)


@given(deltas, st.sets(st.integers(0, 5)), st.integers(-1, 6), st.integers(-1, 6))
def test_what_a_set_answers_its_summary_may_answer(delta: int, ages: set[int], low: int, high: int) -> None:
    buffer = BitvectorBuffer.from_ages(delta, {age for age in ages if age <= delta})
    answer, expected = of(buffer).any(low, high), buffer.any(low, high)
    assert possible(answer) if expected else possible(Not(answer))
    assert possible(of(buffer).single()) is buffer.single() is (len(buffer.ages()) <= 1)


def test_what_a_summary_knows_it_knows() -> None:
    buffer = SummaryBuffer.from_ages(5, {1, 4})
    assert (buffer.has(1), buffer.has(4), buffer.has(0), buffer.has(5)) == (True, True, False, False)
    assert possible(buffer.any(2, 3))
    assert possible(Not(buffer.any(2, 3)))
    assert not possible(buffer.any(2, 3), Not(buffer.any(2, 3)))


def summarises(delta: Number, member: Callable[[Number], Truth], buffer: SummaryBuffer) -> list[Any]:
    """That the integers are the ends of a set of ages, spelled out with quantifiers."""
    age = Int(z3.FreshInt("age"))
    outside = Or(age < 0, age > delta, age > buffer.oldest, age < buffer.youngest)
    only = z3.ForAll([age.term], lift_truth(Implies(outside, Not(member(age)))))
    oldest, youngest = (Int(age.lift(end)) for end in (buffer.oldest, buffer.youngest))
    ends = Or(buffer.empty(), And(member(oldest), member(youngest)))
    return [only, lift_truth(And(buffer.is_in_range(), ends))]


@pytest.fixture
def world() -> tuple[Int, Callable[[Number], Truth], SummaryBuffer]:
    delta, function = Int(z3.Int("delta")), z3.Function("there", z3.IntSort(), z3.BoolSort())
    return delta, lambda age: Bool(function(age.term)), SummaryBuffer.from_name(delta, "buffer")


def proved(given: list[Any], concluded: list[Any]) -> bool:
    """Whether all follows; what does not, Z3 may be unable to refute, so it is given up after a number of steps."""
    solver = z3.Solver()
    solver.set("rlimit", 2_000_000)
    return all(solver.check(*given, z3.Not(each)) == z3.unsat for each in concluded)


def test_sending_for_every_delta(world: Any) -> None:
    delta, there, buffer = world
    given_ = [lift_truth(delta >= 0), *summarises(delta, there, buffer)]
    sent = summarises(delta, lambda age: Or(age == 0, there(age)), buffer.send(True))
    assert proved(given_, sent)
    assert not proved(given_, summarises(delta, there, buffer.send(True)))


def test_ageing_for_every_delta(world: Any) -> None:
    delta, there, buffer = world

    def aged(age: Number) -> Truth:
        older = Or(And(age >= 1, there(age - 1)), And(age == delta, there(delta)))
        return And(age >= 0, age <= delta, older)

    given_ = [lift_truth(delta >= 1), *summarises(delta, there, buffer)]
    assert proved(given_, summarises(delta, aged, buffer.age()))
    assert not proved(given_, summarises(delta, there, buffer.age()))


def test_clearing_for_every_delta(world: Any) -> None:
    delta, there, buffer = world
    given_ = [lift_truth(delta >= 0), *summarises(delta, there, buffer)]
    assert proved(given_, summarises(delta, lambda age: False, buffer.clear()))
    assert not proved(given_, summarises(delta, there, buffer.clear()))


def test_delivering_for_every_delta(world: Any) -> None:
    """The summaries of what is delivered and of what is left fit together as a selection demands."""
    delta, there, buffer = world
    function = z3.Function("delivered", z3.IntSort(), z3.BoolSort())
    chosen = SummarySelection(buffer, "chosen")

    def delivered(age: Number) -> Truth:
        return And(there(age), Bool(function(age.term)))

    def left(age: Number) -> Truth:
        return And(there(age), Not(Bool(function(age.term))))

    given_ = [
        lift_truth(delta >= 0),
        *summarises(delta, there, buffer),
        *summarises(delta, delivered, chosen),
        *summarises(delta, left, chosen.left),
    ]
    assert proved(given_, [lift_truth(chosen.within(buffer))])
    assert not proved(given_, [lift_truth(Implies(Not(chosen.empty()), chosen.left.empty()))])


def test_a_summary_delivers_only_what_was_chosen_from_it() -> None:
    buffer, other = SummaryBuffer.from_ages(3, {1}), SummaryBuffer.from_ages(3, {2})
    with pytest.raises(UsageError, match="can only deliver a selection"):
        buffer.deliver(other)
    with pytest.raises(UsageError, match="can only be compared with that summary"):
        SummarySelection(buffer, "chosen").within(other)
