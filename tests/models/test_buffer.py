"""The three encodings of a buffer against a plain set of ages, and proofs that the counter keeps spelling one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.errors import UsageError
from fdverify.logic import And, Iff, Implies, Not
from fdverify.models.buffer import (
    ENCODINGS,
    Buffer,
    ColumnBuffer,
    CounterBuffer,
    PredicateBuffer,
    check_encoding,
    enumerate_subsets,
    find_buffer_class,
)
from fdverify.symbolic.selection import build_fresh_parts
from fdverify.symbolic.values import Bool, Int, Value

LARGEST_DELTA = 6
DELTAS = range(LARGEST_DELTA + 1)

Ages = frozenset[int]
Operation = (
    tuple[Literal["send"], bool]
    | tuple[Literal["age"], None]
    | tuple[Literal["deliver"], Ages]
    | tuple[Literal["clear"], bool]
)

encodings = pytest.mark.parametrize("encoding", ENCODINGS)


def aged(ages: Ages, delta: int) -> Ages:
    """One round later: ages from Δ on are all called Δ."""
    return frozenset(min(age + 1, delta) for age in ages)


def after(ages: Ages, delta: int, operation: Operation) -> Ages:
    match operation:
        case ("send", when):
            return ages | {0} if when else ages
        case ("deliver", wanted):
            return ages - wanted
        case ("clear", when):
            return frozenset() if when else ages
    return aged(ages, delta)


def sets_of_ages(delta: int) -> st.SearchStrategy[Ages]:
    return st.frozensets(st.integers(0, delta))


def operations(delta: int) -> st.SearchStrategy[Operation]:
    return st.one_of(
        st.tuples(st.just("send"), st.booleans()),
        st.tuples(st.just("age"), st.none()),
        st.tuples(st.just("deliver"), sets_of_ages(delta)),
        st.tuples(st.just("clear"), st.booleans()),
    )


@st.composite
def histories(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[int, Ages, list[list[Operation]]]:
    """A Δ, the ages at first, and bursts of operations; between bursts a buffer is stored and read back."""
    delta = draw(st.integers(0, LARGEST_DELTA))
    bursts = st.lists(st.lists(operations(delta), max_size=4), max_size=4)
    return delta, draw(sets_of_ages(delta)), draw(bursts)


@encodings
@given(history=histories())
def test_behaves_like_a_set(encoding: str, history: tuple[int, Ages, list[list[Operation]]]) -> None:
    delta, ages, bursts = history
    kind = find_buffer_class(encoding)
    buffer = kind.from_ages(delta, ages)
    check_contents(buffer, ages)
    for burst in bursts:
        for operation in burst:
            match operation:
                case ("send", when):
                    buffer = buffer.send(when)
                case ("deliver", wanted):
                    buffer = buffer.deliver(kind.from_ages(delta, wanted))
                case ("clear", when):
                    buffer = buffer.clear(when)
                case _:
                    buffer = buffer.age()
            ages = after(ages, delta, operation)
            check_contents(buffer, ages)
        buffer = kind.from_columns(delta, buffer.to_columns())
        check_contents(buffer, ages)


def check_contents(buffer: ColumnBuffer, ages: Ages) -> None:
    assert buffer.ages() == ages
    for age in range(-2, buffer.delta + 3):
        assert buffer.has(age) is (age in ages)
    assert buffer.empty() is (not ages)
    assert buffer.single() is (len(ages) <= 1)
    assert buffer.is_in_range() is True
    assert len(buffer.to_columns()) == len(buffer.list_columns(buffer.delta))
    if isinstance(buffer, CounterBuffer):
        assert [bool(buffer.count >> place & 1) for place in range(buffer.delta + 1)] == list(buffer.digits)
        assert buffer.count < 2 ** (buffer.delta + 1)


@encodings
@given(data=st.data())
def test_questions_about_ages(encoding: str, data: st.DataObject) -> None:
    delta = data.draw(st.integers(0, LARGEST_DELTA), "delta")
    ages = data.draw(sets_of_ages(delta), "ages")
    low, high = data.draw(st.integers(-2, delta + 2), "low"), data.draw(st.integers(-2, delta + 2), "high")
    liked = data.draw(sets_of_ages(delta), "liked")
    buffer = find_buffer_class(encoding).from_ages(delta, ages)
    asked = [age for age in range(delta + 1) if low <= age <= high]
    assert buffer.any(low, high) is any(age in ages for age in asked)
    assert buffer.exists(low, high, lambda age: age in liked) is any(age in liked for age in asked)
    assert buffer.forall(low, high, lambda age: age in liked) is all(age in liked for age in asked)
    assert buffer.forall(low, high, buffer.has) is all(age in ages for age in asked)
    assert buffer.within(find_buffer_class(encoding).from_ages(delta, liked)) is (ages <= liked)


@encodings
@given(data=st.data())
def test_a_batch_of_states(encoding: str, data: st.DataObject) -> None:
    """The explorer keeps each stored part of many states in one array."""
    delta = data.draw(st.integers(0, LARGEST_DELTA), "delta")
    batch = data.draw(st.lists(sets_of_ages(delta), min_size=1, max_size=5), "batch")
    wanted = data.draw(sets_of_ages(delta), "wanted")
    when = np.array(data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)), "when"))
    kind = find_buffer_class(encoding)
    buffers = _stacked(kind, delta, batch)
    check_batch(buffers, batch)
    check_batch(buffers.age(), [aged(ages, delta) for ages in batch])
    check_batch(buffers.send(when), [ages | {0} if now else ages for ages, now in zip(batch, when, strict=True)])
    delivered = _stacked(kind, delta, [wanted for _ in batch])
    check_batch(buffers.deliver(delivered), [ages - wanted for ages in batch])
    assert _spread(buffers.within(delivered), batch) == [ages <= wanted for ages in batch]
    assert _spread(buffers.any(1, 2), batch) == [bool(ages & {1, 2}) for ages in batch]


def _stacked(kind: type[ColumnBuffer], delta: int, batch: Sequence[Ages]) -> ColumnBuffer:
    rows = [kind.from_ages(delta, ages).to_columns() for ages in batch]
    return kind.from_columns(delta, [np.array(column) for column in zip(*rows, strict=True)])


def check_batch(buffers: ColumnBuffer, batch: Sequence[Ages]) -> None:
    """Row by row what the plain sets say, whether asked of the arrays or read back from their entries."""
    for age in range(buffers.delta + 1):
        assert _spread(buffers.has(age), batch) == [age in ages for ages in batch]
    columns = [_spread(part, batch) for part in buffers.to_columns()]
    for ages, row in zip(batch, zip(*columns, strict=True), strict=True):
        check_contents(buffers.from_columns(buffers.delta, row), ages)


def _spread(value: Any, batch: Sequence[Ages]) -> list[Any]:
    return list(np.broadcast_to(value, len(batch)).tolist())


def symbolic_buffer(kind: type[ColumnBuffer], delta: int, name: str) -> Any:
    return kind.from_columns(delta, build_fresh_parts(kind.list_columns(delta), name))


def proved(claim: Any, *assumptions: Any) -> bool:
    solver = z3.Solver()
    solver.add(*(_term(assumption) for assumption in assumptions), z3.Not(_term(claim)))
    return bool(solver.check() == z3.unsat)


def _term(value: Any) -> Any:
    return value.term if isinstance(value, Value) else z3.BoolVal(value)


@pytest.mark.parametrize("delta", DELTAS)
def test_the_counter_keeps_spelling_its_digits(delta: int) -> None:
    """Proved for every count and all digits; the engines may assume it of any state because of this."""
    buffer = symbolic_buffer(CounterBuffer, delta, "buffer")
    delivered = symbolic_buffer(CounterBuffer, delta, "delivered")
    when = Bool(z3.Bool("when"))
    assert not proved(buffer.is_in_range()), "in_range must not hold of everything"
    assert proved(buffer.age().is_in_range(), buffer.is_in_range())
    assert proved(buffer.send(when).is_in_range(), buffer.is_in_range())
    assert proved(buffer.deliver(delivered).is_in_range(), buffer.is_in_range(), delivered.is_in_range())
    assert not proved(False, buffer.is_in_range(), delivered.is_in_range()), "nothing is proved from what cannot be"


@pytest.mark.parametrize("delta", DELTAS)
@encodings
def test_operations_on_every_buffer(encoding: str, delta: int) -> None:
    """What the random histories sample is proved here for all buffers: each operation's members, age by age."""
    kind = find_buffer_class(encoding)
    buffer, delivered = symbolic_buffer(kind, delta, "buffer"), symbolic_buffer(kind, delta, "delivered")
    when = Bool(z3.Bool("when"))
    valid = And(buffer.is_in_range(), delivered.is_in_range())
    older, sent, left, kept = buffer.age(), buffer.send(when), buffer.deliver(delivered), buffer.clear(when)
    for age in range(delta + 1):
        came = [buffer.has(before) for before in range(delta + 1) if min(before + 1, delta) == age]
        assert proved(Iff(older.has(age), _any_of(came)), valid)
        assert proved(Iff(sent.has(age), _any_of([buffer.has(age), when] if age == 0 else [buffer.has(age)])), valid)
        assert proved(Iff(left.has(age), And(buffer.has(age), Not(delivered.has(age)))), valid)
        assert proved(Iff(kept.has(age), And(buffer.has(age), Not(when))), valid)
    assert proved(kept.is_in_range(), valid)
    assert proved(Iff(buffer.empty(), Not(_any_of([buffer.has(age) for age in range(delta + 1)]))), valid)
    subset = delivered.forall(0, delta, lambda age: Implies(delivered.has(age), buffer.has(age)))
    assert proved(Iff(delivered.within(buffer), subset), valid)


def _any_of(claims: Sequence[Any]) -> Bool:
    return Bool(z3.Or([_term(claim) for claim in claims]))


@encodings
@given(data=st.data())
def test_an_age_that_is_not_known(encoding: str, data: st.DataObject) -> None:
    delta = data.draw(st.integers(0, LARGEST_DELTA), "delta")
    ages = data.draw(sets_of_ages(delta), "ages")
    asked = data.draw(st.integers(-2, delta + 2), "asked")
    age = z3.Int("age")
    claim = _term(find_buffer_class(encoding).from_ages(delta, ages).has(Int(age)))
    assert z3.is_true(z3.simplify(z3.substitute(claim, (age, z3.IntVal(asked))))) is (asked in ages)


@pytest.mark.parametrize("delta", DELTAS)
@encodings
def test_no_age_outside_is_in_transit(encoding: str, delta: int) -> None:
    """For a symbolic buffer and a symbolic age together."""
    buffer, age = symbolic_buffer(find_buffer_class(encoding), delta, "buffer"), Int(z3.Int("age"))
    assert proved(And(age >= 0, age <= delta), buffer.has(age))
    for known in range(delta + 1):
        assert proved(Iff(buffer.has(age), buffer.has(known)), age == known)
    assert not proved(Not(buffer.has(age)))


@given(data=st.data())
def test_a_delta_that_is_not_known(data: st.DataObject) -> None:
    """A predicate over ages needs no fixed Δ; pinned to one, it is the plain set again."""
    known = data.draw(st.integers(0, LARGEST_DELTA), "delta")
    ages = data.draw(sets_of_ages(known), "ages")
    wanted = data.draw(sets_of_ages(known), "wanted")
    asked = data.draw(st.integers(-2, known + 2), "asked")
    delta = z3.Int("delta")

    def member_of(members: Ages) -> PredicateBuffer:
        return PredicateBuffer(Int(delta), lambda age: _any_of([age == member for member in sorted(members)]))

    buffer, delivered = member_of(ages), member_of(wanted)
    expected = [
        (buffer, ages),
        (buffer.age(), aged(ages, known)),
        (buffer.send(True), ages | {0}),
        (buffer.send(False), ages),
        (buffer.deliver(delivered), ages - wanted),
        (buffer.clear(), frozenset()),
        (buffer.clear(False), ages),
        (buffer.age().send(True).deliver(member_of(frozenset({0, known}))), aged(ages, known) - {0, known}),
    ]
    for found, members in expected:
        claim = _term(found.has(asked))
        assert z3.is_true(z3.simplify(z3.substitute(claim, (delta, z3.IntVal(known))))) is (asked in members)
    with pytest.raises(UsageError, match="fixed delta"):
        buffer.empty()


@pytest.mark.parametrize("ages", [frozenset(), frozenset({3}), frozenset({0, 2, 5})])
def test_subsets(ages: Ages) -> None:
    found = list(enumerate_subsets(ages))
    assert len(found) == len(set(found)) == 2 ** len(ages)
    assert all(subset <= ages for subset in found)
    assert (found[0], found[-1]) == (frozenset(), ages)


def test_encodings_that_cannot_hold_a_delta() -> None:
    for encoding in ENCODINGS:
        check_encoding(encoding, LARGEST_DELTA)
    check_encoding("predicate", None)
    check_encoding("bitvector", 100)
    with pytest.raises(UsageError, match="up to 6, got 7"):
        check_encoding("counter", 7)
    for encoding in ("counter", "bitvector"):
        with pytest.raises(UsageError, match="needs a fixed delta"):
            check_encoding(encoding, None)


def test_every_encoding_is_a_buffer() -> None:
    for encoding in ENCODINGS:
        assert issubclass(find_buffer_class(encoding), Buffer)
        assert find_buffer_class(encoding).encoding == encoding
