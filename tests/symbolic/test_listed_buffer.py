"""A buffer that lists its ages is the plain set of ages, whatever Δ is, and whatever has happened to it."""

from __future__ import annotations

from typing import Any

import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.logic import Truth
from fdverify.symbolic.age_claims import AgeClaimRegistry, SymbolicBuffer
from fdverify.symbolic.listed_buffer import ListedBuffer
from fdverify.symbolic.selection import build_fresh_selection, read_selection
from fdverify.symbolic.values import Bool, Int, lift_truth

LARGEST = 5
DELTA, OTHER = Int(z3.Int("delta")), Int(z3.Int("other"))
WHEN = Bool(z3.Bool("when"))

Plain = frozenset[int]


def build(ages: Plain, delta: Int = DELTA) -> ListedBuffer:
    buffer = ListedBuffer.from_ages(delta, ages, AgeClaimRegistry())
    assert buffer is not None
    return buffer


def evaluated(claim: Truth, delta: int, other: int = 0, when: bool = False) -> bool:
    pins = (DELTA.term, z3.IntVal(delta)), (OTHER.term, z3.IntVal(other)), (WHEN.term, z3.BoolVal(when))
    value = z3.simplify(z3.substitute(lift_truth(claim), *pins))
    assert z3.is_true(value) or z3.is_false(value)
    return bool(z3.is_true(value))


def aged(ages: Plain, delta: int) -> Plain:
    return frozenset(min(age + 1, delta) for age in ages)


def check(buffer: ListedBuffer, ages: Plain, delta: int, when: bool = False) -> None:
    """Every question about the buffer has the answer that the plain set gives."""

    def found(claim: Truth) -> bool:
        return evaluated(claim, delta, when=when)

    for age in range(-2, delta + 3):
        assert found(buffer.has(age)) is (age in ages)
        assert found(buffer.has(Int(z3.IntVal(age)))) is (age in ages)
        assert found(buffer.has(DELTA - age)) is (delta - age in ages)
        assert found(buffer.any(age, age + 1)) is bool({age, age + 1} & ages)
    assert found(buffer.has(DELTA)) is (delta in ages)
    assert found(buffer.any(1, DELTA - 1)) is any(1 <= age < delta for age in ages)
    assert found(buffer.empty()) is (not ages)
    assert found(buffer.single()) is (len(ages) <= 1)


@given(data=st.data())
def test_every_history(data: st.DataObject) -> None:
    delta, when = data.draw(st.integers(0, LARGEST), "delta"), data.draw(st.booleans(), "when")
    start = data.draw(st.frozensets(st.integers(-1, LARGEST + 1)), "start")
    buffer, ages = build(start), frozenset(age for age in start if 0 <= age <= delta)
    check(buffer, ages, delta)
    for _ in range(data.draw(st.integers(0, 8), "length")):
        match data.draw(st.sampled_from(["send", "send if", "age", "age", "age if", "deliver", "clear if"])):
            case "send":
                buffer, ages = buffer.send(True), ages | {0}
            case "send if":
                buffer, ages = buffer.send(WHEN), ages | ({0} if when else frozenset())
            case "age":
                buffer, ages = buffer.age(), aged(ages, delta)
            case "age if":
                buffer, ages = buffer.age(WHEN), aged(ages, delta) if when else ages
            case "clear if":
                buffer, ages = buffer.clear(WHEN), frozenset() if when else ages
            case "deliver":
                wanted = data.draw(st.frozensets(st.integers(0, LARGEST)), "wanted")
                buffer, ages = buffer.deliver(build(wanted)), ages - {age for age in wanted if age <= delta}
        check(buffer, ages, delta, when)


@given(
    delta=st.integers(0, LARGEST),
    other=st.integers(0, LARGEST),
    ages=st.frozensets(st.integers(0, LARGEST)),
    wanted=st.frozensets(st.integers(0, LARGEST)),
)
def test_another_buffer_may_have_another_bound(delta: int, other: int, ages: Plain, wanted: Plain) -> None:
    first, second = build(ages), build(wanted, OTHER)
    inside, taken = {age for age in ages if age <= delta}, {age for age in wanted if age <= other}
    for age in range(LARGEST + 1):
        assert evaluated(first.deliver(second).has(age), delta, other) is (age in inside - taken)
    assert evaluated(first.within(second), delta, other) is (inside <= taken)


@given(delta=st.integers(0, LARGEST), ages=st.frozensets(st.integers(0, LARGEST)))
def test_exactly_the_subsets_can_be_chosen(delta: int, ages: Plain) -> None:
    buffer = build(ages).age()
    chosen = build_fresh_selection(buffer, "chosen")
    solver = z3.Solver()
    solver.add(DELTA.term == delta, lift_truth(chosen.within(buffer)))
    found = set[Plain]()
    while solver.check() == z3.sat:
        model = solver.model()

        def read(part: Any, model: Any = model) -> bool:
            return bool(z3.is_true(model.eval(lift_truth(part), model_completion=True)))

        picked = read_selection(chosen, read, delta)
        assert picked not in found
        found.add(picked)
        solver.add(z3.Or([lift_truth(chosen.has(age)) != (age in picked) for age in range(delta + 1)]))
    inside = aged(frozenset(age for age in ages if age <= delta), delta)
    assert len(found) == 2 ** len(inside)
    assert all(picked <= inside for picked in found)


def test_what_is_delivered_may_be_any_buffer() -> None:
    symbolic = SymbolicBuffer(DELTA, lambda age: age == DELTA - 1, AgeClaimRegistry())
    left = build(frozenset({0, 1, 2})).deliver(symbolic)
    for delta in range(4):
        check(left, frozenset(age for age in range(min(delta, 2) + 1) if age != delta - 1), delta)


def test_initial_ages() -> None:
    oldest = ListedBuffer.from_ages(DELTA, [DELTA, 1], AgeClaimRegistry())
    assert oldest is not None
    for delta in range(4):
        check(oldest, frozenset({delta} | ({1} if delta >= 1 else set())), delta)
    assert ListedBuffer.from_ages(DELTA, [DELTA - 1], AgeClaimRegistry()) is None


def test_a_claim_about_all_ages_is_not_answered_from_the_list() -> None:
    """A body may say something about ages that no message has."""
    book = AgeClaimRegistry()
    buffer = ListedBuffer.from_ages(DELTA, [0], book)
    assert buffer is not None
    claim = buffer.forall(0, DELTA, lambda age: age < 2)
    (mention,) = book.take_mentions()
    assert claim is mention.holds  # type: ignore[union-attr]
