"""The message buffer: the set of ages 0..Δ at which a message is in transit, where age Δ means "Δ or older".

The same set has three encodings behind one interface (section 4.2 of the paper).  A buffer is immutable: every
operation returns a new one.  Each operation is written once and runs on Python values, arrays and symbolic values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import And, If, Implies, Not, Number, Or, Symbolic, Truth, raise_misuse

Column: TypeAlias = str | int
"""The type of one stored column of a variable: ``bool``, ``int``, or a number n for a vector of n bits."""


class Buffer(ABC):
    """A set of ages between 0 and ``delta``."""

    encoding: ClassVar[str]
    delta: Number

    def __eq__(self, other: object) -> bool:
        raise_misuse(
            "buffers are not compared with ==", "ask them: empty(), has(age), within(other), forall(low, high, body)"
        )

    def __bool__(self) -> bool:
        raise_misuse("a buffer has no truth value", "ask it: empty(), has(age), any(low, high)")

    def __hash__(self) -> int:
        raise_misuse("a buffer cannot be hashed", "do not put it into a set or use it as a key")

    @abstractmethod
    def has(self, age: Number) -> Truth:
        """Return whether a message of this age is in transit; false outside 0..Δ."""

    @abstractmethod
    def send(self, when: Truth) -> Self:
        """Put a message of age 0 into transit where ``when`` holds; a second one of age 0 changes nothing."""

    @abstractmethod
    def age(self, when: Truth = True) -> Self:
        """Make all messages older by one where ``when`` holds; age Δ stays, since it means "Δ or older"."""

    @abstractmethod
    def deliver(self, delivered: Self) -> Self:
        """Remove the delivered ages; those that are not in transit are ignored."""

    @abstractmethod
    def clear(self, when: Truth = True) -> Self:
        """Remove all messages where ``when`` holds."""

    @abstractmethod
    def within(self, other: Self) -> Truth:
        """Return whether every age of this buffer is also in ``other``."""

    @abstractmethod
    def empty(self) -> Truth: ...

    def single(self) -> Truth:
        """Return whether messages of at most one age are in transit."""
        none_yet: Truth = True
        single: Truth = True
        for age in self._list_ages():
            single = And(single, Or(none_yet, Not(self.has(age))))
            none_yet = And(none_yet, Not(self.has(age)))
        return single

    def exists(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        """Return whether some age from ``low`` to ``high``, within 0..Δ, satisfies ``body``."""
        return Or(*(And(low <= age, age <= high, body(age)) for age in self._list_ages()))

    def forall(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        """Return whether every age from ``low`` to ``high``, within 0..Δ, satisfies ``body``."""
        return And(*(Or(Not(And(low <= age, age <= high)), body(age)) for age in self._list_ages()))

    def any(self, low: Number, high: Number) -> Truth:
        """Return whether a message of an age from ``low`` to ``high`` is in transit."""
        return self.exists(low, high, self.has)

    def _list_ages(self) -> Iterable[int]:
        if isinstance(self.delta, Symbolic):
            raise UsageError("ages can be listed only for a fixed delta", "give --delta a number")
        return range(self.delta + 1)


class ColumnBuffer(Buffer):
    """A buffer for a fixed Δ, stored in finitely many columns."""

    delta: int

    @staticmethod
    @abstractmethod
    def list_columns(delta: int) -> tuple[Column, ...]: ...

    @classmethod
    @abstractmethod
    def from_columns(cls, delta: int, parts: Sequence[Any]) -> Self: ...

    @abstractmethod
    def to_columns(self) -> tuple[Any, ...]: ...

    @classmethod
    @abstractmethod
    def from_members(cls, delta: int, members: Sequence[Truth]) -> Self:
        """Build the buffer in which a message of age k is in transit where ``members[k]`` holds."""

    @classmethod
    def from_ages(cls, delta: int, ages: Iterable[int]) -> Self:
        """Build the buffer with exactly these ages."""
        present = frozenset(ages)
        return cls.from_members(delta, [age in present for age in range(delta + 1)])

    def is_in_range(self) -> Truth:
        """Return whether the stored columns encode a set of ages."""
        return True

    def ages(self) -> frozenset[int]:
        """Return the ages in transit in one concrete state."""
        return frozenset(age for age in self._list_ages() if self.has(age))


@dataclass(frozen=True, eq=False)
class BitvectorBuffer(ColumnBuffer):
    """Bit k says whether a message of age k is in transit; operations are shifts and masks."""

    encoding: ClassVar[str] = "bitvector"
    delta: int
    bits: Any

    @staticmethod
    def list_columns(delta: int) -> tuple[Column, ...]:
        return (delta + 1,)

    @classmethod
    def from_columns(cls, delta: int, parts: Sequence[Any]) -> Self:
        return cls(delta, parts[0])

    def to_columns(self) -> tuple[Any, ...]:
        return (self.bits,)

    @classmethod
    def from_members(cls, delta: int, members: Sequence[Truth]) -> Self:
        return cls(delta, _encode_digits(members))

    def ages(self) -> frozenset[int]:
        bits = int(self.bits)
        return frozenset(age for age in range(bits.bit_length()) if bits >> age & 1)

    def has(self, age: Number) -> Truth:
        return _look_up_age(age, self._list_ages(), lambda k: (self.bits & (1 << k)) != 0)

    def send(self, when: Truth) -> Self:
        return type(self)(self.delta, If(when, self.bits | 1, self.bits))

    def age(self, when: Truth = True) -> Self:
        if self.delta == 0:
            return self
        oldest = 1 << self.delta
        every = 2 * oldest - 1
        return type(self)(self.delta, If(when, ((self.bits << 1) & every) | (self.bits & oldest), self.bits))

    def deliver(self, delivered: Self) -> Self:
        return type(self)(self.delta, self.bits & ~delivered.bits)

    def clear(self, when: Truth = True) -> Self:
        return type(self)(self.delta, If(when, self.bits & 0, self.bits))

    def within(self, other: Self) -> Truth:
        return (self.bits & ~other.bits) == 0

    def empty(self) -> Truth:
        return self.bits == 0


@dataclass(frozen=True, eq=False)
class CounterBuffer(ColumnBuffer):
    """A natural number whose k-th binary digit says whether a message of age k is in transit; operations are linear.

    The digits are stored beside the number: a solver for linear arithmetic would spend its time on recovering them by
    division in every state.  That the digits encode the number is part of what is proved.
    """

    encoding: ClassVar[str] = "counter"
    largest_delta: ClassVar[int] = 6
    delta: int
    count: Any
    digits: tuple[Truth, ...]

    @staticmethod
    def list_columns(delta: int) -> tuple[Column, ...]:
        return ("int", *("bool",) * (delta + 1))

    @classmethod
    def from_columns(cls, delta: int, parts: Sequence[Any]) -> Self:
        return cls(delta, parts[0], tuple(parts[1:]))

    def to_columns(self) -> tuple[Any, ...]:
        return (self.count, *self.digits)

    @classmethod
    def from_members(cls, delta: int, members: Sequence[Truth]) -> Self:
        return cls(delta, _encode_digits(members), tuple(members))

    def has(self, age: Number) -> Truth:
        return _look_up_age(age, self._list_ages(), self.digits.__getitem__)

    def send(self, when: Truth) -> Self:
        fresh, *older = self.digits
        count = If(And(when, Not(fresh)), self.count + 1, self.count)
        return type(self)(self.delta, count, (Or(fresh, when), *older))

    def age(self, when: Truth = True) -> Self:
        if self.delta == 0:
            return self
        oldest = 2**self.delta
        doubled = self.count * 2
        kept = If(self.count >= oldest + oldest // 2, doubled - 2 * oldest, doubled - oldest)
        *younger, last, old = self.digits
        aged = If(self.count < oldest, doubled, kept), (False, *younger, Or(last, old))
        digits = tuple(If(when, after, before) for after, before in zip(aged[1], self.digits, strict=True))
        return type(self)(self.delta, If(when, aged[0], self.count), digits)

    def deliver(self, delivered: Self) -> Self:
        pairs = list(zip(self.digits, delivered.digits, strict=True))
        taken = _encode_digits([And(digit, gone) for digit, gone in pairs])
        return type(self)(self.delta, self.count - taken, tuple(And(digit, Not(gone)) for digit, gone in pairs))

    def clear(self, when: Truth = True) -> Self:
        return type(self)(self.delta, If(when, 0, self.count), tuple(And(digit, Not(when)) for digit in self.digits))

    def within(self, other: Self) -> Truth:
        return And(self.is_in_range(), *(Implies(self.has(age), other.has(age)) for age in self._list_ages()))

    def is_in_range(self) -> Truth:
        return self.count == _encode_digits(self.digits)

    def empty(self) -> Truth:
        return self.count == 0


def _encode_digits(digits: Sequence[Truth]) -> Number:
    return sum(If(digit, 2**place, 0) for place, digit in enumerate(digits))


class PredicateBuffer(Buffer):
    """The paper's existsMsgOfAge: a predicate over ages, which each operation wraps in another function."""

    encoding: ClassVar[str] = "predicate"

    def __init__(self, delta: Number, member: Callable[[Number], Truth]) -> None:
        self.delta = delta
        self._member = member

    def has(self, age: Number) -> Truth:
        return And(age >= 0, age <= self.delta, self._member(age))

    def send(self, when: Truth) -> Self:
        return self._with_member(lambda age: Or(And(when, age == 0), self.has(age)))

    def age(self, when: Truth = True) -> Self:
        return self._with_member(
            lambda age: If(
                Or(self.delta == 0, Not(when)),
                self.has(age),
                Or(self.has(age - 1), And(age == self.delta, self.has(self.delta))),
            )
        )

    def deliver(self, delivered: Self) -> Self:
        return self._with_member(lambda age: And(self.has(age), Not(delivered.has(age))))

    def clear(self, when: Truth = True) -> Self:
        return self._with_member(lambda age: And(Not(when), self.has(age)))

    def within(self, other: Self) -> Truth:
        return And(*(Implies(self.has(age), other.has(age)) for age in self._list_ages()))

    def empty(self) -> Truth:
        return Not(self.any(0, self.delta))

    def _with_member(self, member: Callable[[Number], Truth]) -> Self:
        return type(self)(self.delta, member)


class FinitePredicateBuffer(PredicateBuffer, ColumnBuffer):
    """The predicate for a fixed Δ: one truth value for each age."""

    @staticmethod
    def list_columns(delta: int) -> tuple[Column, ...]:
        return ("bool",) * (delta + 1)

    @classmethod
    def from_columns(cls, delta: int, parts: Sequence[Any]) -> Self:
        return cls(delta, lambda age: _look_up_age(age, range(delta + 1), lambda k: parts[k]))

    def to_columns(self) -> tuple[Any, ...]:
        return tuple(self.has(age) for age in self._list_ages())

    @classmethod
    def from_members(cls, delta: int, members: Sequence[Truth]) -> Self:
        return cls.from_columns(delta, members)


ENCODINGS = ("predicate", "counter", "bitvector")
LARGEST_DELTA = 4096


def find_buffer_class(encoding: str) -> type[ColumnBuffer]:
    """Return the class that stores a buffer of a fixed Δ in this encoding."""
    classes: tuple[type[ColumnBuffer], ...] = (FinitePredicateBuffer, CounterBuffer, BitvectorBuffer)
    return next(buffer_class for buffer_class in classes if buffer_class.encoding == encoding)


def check_encoding(encoding: str, delta: int | None) -> None:
    """Refuse an encoding that cannot represent this Δ (``None``: an arbitrary Δ)."""
    if encoding not in ENCODINGS:
        raise UsageError(f"unknown buffer encoding {encoding}", f"use one of {', '.join(ENCODINGS)}")
    if delta is None and encoding != "predicate":
        raise UsageError(f"--buffer {encoding} needs a fixed delta", "give --delta a number, or --buffer predicate")
    if delta is not None and delta > LARGEST_DELTA:
        raise UsageError(f"a fixed delta is at most {LARGEST_DELTA}, got {delta}", "use --delta symbolic")
    if delta is not None and encoding == "counter" and delta > CounterBuffer.largest_delta:
        raise UsageError(
            f"--buffer counter holds delta up to {CounterBuffer.largest_delta}, got {delta}", "use --buffer bitvector"
        )


def _look_up_age(age: Number, ages: Iterable[int], member: Callable[[int], Truth]) -> Truth:
    """Return ``member(age)`` for one of ``ages``, else false: a look-up if the age is known, else a case split."""
    if isinstance(age, int):
        return member(age) if age in ages else False
    return Or(*(And(age == k, member(k)) for k in ages))


def enumerate_subsets(ages: Iterable[int]) -> Iterator[frozenset[int]]:
    """Enumerate all subsets in the order of their binary codes, which is the same everywhere."""
    ordered = sorted(ages)
    for code in range(1 << len(ordered)):
        yield frozenset(age for bit, age in enumerate(ordered) if code >> bit & 1)
