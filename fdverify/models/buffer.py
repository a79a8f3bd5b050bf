"""The message buffer: the set of ages 0..Δ at which a message is in transit, where age Δ stands for "Δ or older".

Three encodings of the same set behind one interface (the paper's section 4.2).  A buffer is a value: every operation
gives a new one.  Each operation is written once and runs on Python values, on arrays and on symbolic values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import And, If, Implies, Not, Number, Or, Symbolic, Truth, misuse

Column: TypeAlias = str | int
"""How one part of a variable is stored: ``bool``, ``int``, or a number: a vector of that many bits."""


class Buffer(ABC):
    """A set of ages between 0 and ``delta``."""

    encoding: ClassVar[str]
    delta: Number

    def __eq__(self, other: object) -> bool:
        misuse(
            "buffers are not compared with ==", "ask them: empty(), has(age), within(other), forall(low, high, body)"
        )

    def __bool__(self) -> bool:
        misuse("a buffer has no truth value", "ask it: empty(), has(age), any(low, high)")

    def __hash__(self) -> int:
        misuse("a buffer cannot be hashed", "do not put it into a set or use it as a key")

    @abstractmethod
    def has(self, age: Number) -> Truth:
        """Whether a message of this age is in transit; never outside 0..Δ."""

    @abstractmethod
    def send(self, when: Truth) -> Self:
        """Put a message of age 0 into transit where ``when`` holds; a second one of that age changes nothing."""

    @abstractmethod
    def age(self, when: Truth = True) -> Self:
        """Where ``when`` holds, all messages grow older by one, but for age Δ, which stands for all older ones too."""

    @abstractmethod
    def deliver(self, delivered: Self) -> Self:
        """Take the delivered ages out, those of them that are there."""

    @abstractmethod
    def within(self, other: Self) -> Truth:
        """Whether every age is one of ``other`` too."""

    @abstractmethod
    def empty(self) -> Truth: ...

    def single(self) -> Truth:
        """Whether there is a message of one age at most."""
        none_yet: Truth = True
        single: Truth = True
        for age in self._ages():
            single = And(single, Or(none_yet, Not(self.has(age))))
            none_yet = And(none_yet, Not(self.has(age)))
        return single

    def exists(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        """Whether some age from ``low`` to ``high`` (and 0 to Δ) satisfies ``body``."""
        return Or(*(And(low <= age, age <= high, body(age)) for age in self._ages()))

    def forall(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        """Whether every age from ``low`` to ``high`` (and 0 to Δ) satisfies ``body``."""
        return And(*(Or(Not(And(low <= age, age <= high)), body(age)) for age in self._ages()))

    def any(self, low: Number, high: Number) -> Truth:
        """Whether a message of an age from ``low`` to ``high`` is in transit."""
        return self.exists(low, high, self.has)

    def _ages(self) -> Iterable[int]:
        if isinstance(self.delta, Symbolic):
            raise UsageError("ages can be listed only for a fixed delta", "give --delta a number")
        return range(self.delta + 1)


class ColumnBuffer(Buffer):
    """A buffer for a fixed Δ, made of finitely many stored parts."""

    delta: int

    @staticmethod
    @abstractmethod
    def columns(delta: int) -> tuple[Column, ...]: ...

    @classmethod
    @abstractmethod
    def from_columns(cls, delta: int, parts: Sequence[Any]) -> Self: ...

    @abstractmethod
    def to_columns(self) -> tuple[Any, ...]: ...

    @classmethod
    @abstractmethod
    def from_members(cls, delta: int, members: Sequence[Truth]) -> Self:
        """The buffer in which a message of age k is in transit where ``members[k]`` holds."""

    @classmethod
    def of(cls, delta: int, ages: Iterable[int]) -> Self:
        """The buffer with exactly these ages."""
        present = frozenset(ages)
        return cls.from_members(delta, [age in present for age in range(delta + 1)])

    def in_range(self) -> Truth:
        """Whether the stored parts spell a set of ages at all."""
        return True

    def ages(self) -> frozenset[int]:
        """The ages in transit, of one concrete state."""
        return frozenset(age for age in self._ages() if self.has(age))


@dataclass(frozen=True, eq=False)
class BitvectorBuffer(ColumnBuffer):
    """Bit k says whether a message of age k is in transit; operations are shifts and masks."""

    encoding: ClassVar[str] = "bitvector"
    delta: int
    bits: Any

    @staticmethod
    def columns(delta: int) -> tuple[Column, ...]:
        return (delta + 1,)

    @classmethod
    def from_columns(cls, delta: int, parts: Sequence[Any]) -> Self:
        return cls(delta, parts[0])

    def to_columns(self) -> tuple[Any, ...]:
        return (self.bits,)

    @classmethod
    def from_members(cls, delta: int, members: Sequence[Truth]) -> Self:
        return cls(delta, _spelled(members))

    def ages(self) -> frozenset[int]:
        bits = int(self.bits)
        return frozenset(age for age in range(bits.bit_length()) if bits >> age & 1)

    def has(self, age: Number) -> Truth:
        return _at_age(age, self._ages(), lambda k: (self.bits & (1 << k)) != 0)

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

    def within(self, other: Self) -> Truth:
        return (self.bits & ~other.bits) == 0

    def empty(self) -> Truth:
        return self.bits == 0


@dataclass(frozen=True, eq=False)
class CounterBuffer(ColumnBuffer):
    """A natural number whose k-th binary digit says whether a message of age k is in transit; operations are linear.

    The digits are carried beside the number.  Found again by division in every state, they are what a solver for linear
    arithmetic spends its time on; so they are stored, and that they spell the number is part of what is proved.
    """

    encoding: ClassVar[str] = "counter"
    largest_delta: ClassVar[int] = 6
    delta: int
    count: Any
    digits: tuple[Truth, ...]

    @staticmethod
    def columns(delta: int) -> tuple[Column, ...]:
        return ("int", *("bool",) * (delta + 1))

    @classmethod
    def from_columns(cls, delta: int, parts: Sequence[Any]) -> Self:
        return cls(delta, parts[0], tuple(parts[1:]))

    def to_columns(self) -> tuple[Any, ...]:
        return (self.count, *self.digits)

    @classmethod
    def from_members(cls, delta: int, members: Sequence[Truth]) -> Self:
        return cls(delta, _spelled(members), tuple(members))

    def has(self, age: Number) -> Truth:
        return _at_age(age, self._ages(), self.digits.__getitem__)

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
        taken = _spelled([And(digit, gone) for digit, gone in pairs])
        return type(self)(self.delta, self.count - taken, tuple(And(digit, Not(gone)) for digit, gone in pairs))

    def within(self, other: Self) -> Truth:
        return And(self.in_range(), *(Implies(self.has(age), other.has(age)) for age in self._ages()))

    def in_range(self) -> Truth:
        return self.count == _spelled(self.digits)

    def empty(self) -> Truth:
        return self.count == 0


def _spelled(digits: Sequence[Truth]) -> Number:
    return sum(If(digit, 2**place, 0) for place, digit in enumerate(digits))


class PredicateBuffer(Buffer):
    """The paper's existsMsgOfAge: a predicate over ages, here a function that each operation wraps once more."""

    encoding: ClassVar[str] = "predicate"

    def __init__(self, delta: Number, member: Callable[[Number], Truth]) -> None:
        self.delta = delta
        self._member = member

    def has(self, age: Number) -> Truth:
        return And(age >= 0, age <= self.delta, self._member(age))

    def send(self, when: Truth) -> Self:
        return self._with(lambda age: Or(And(when, age == 0), self.has(age)))

    def age(self, when: Truth = True) -> Self:
        return self._with(
            lambda age: If(
                Or(self.delta == 0, Not(when)),
                self.has(age),
                Or(self.has(age - 1), And(age == self.delta, self.has(self.delta))),
            )
        )

    def deliver(self, delivered: Self) -> Self:
        return self._with(lambda age: And(self.has(age), Not(delivered.has(age))))

    def within(self, other: Self) -> Truth:
        return And(*(Implies(self.has(age), other.has(age)) for age in self._ages()))

    def empty(self) -> Truth:
        return Not(self.any(0, self.delta))

    def _with(self, member: Callable[[Number], Truth]) -> Self:
        return type(self)(self.delta, member)


class FinitePredicateBuffer(PredicateBuffer, ColumnBuffer):
    """The predicate for a fixed Δ: one truth value an age."""

    @staticmethod
    def columns(delta: int) -> tuple[Column, ...]:
        return ("bool",) * (delta + 1)

    @classmethod
    def from_columns(cls, delta: int, parts: Sequence[Any]) -> Self:
        return cls(delta, lambda age: _at_age(age, range(delta + 1), lambda k: parts[k]))

    def to_columns(self) -> tuple[Any, ...]:
        return tuple(self.has(age) for age in self._ages())

    @classmethod
    def from_members(cls, delta: int, members: Sequence[Truth]) -> Self:
        return cls.from_columns(delta, members)


ENCODINGS = ("predicate", "counter", "bitvector")
LARGEST_DELTA = 4096


def column_buffer(encoding: str) -> type[ColumnBuffer]:
    """The class that stores a buffer of a fixed Δ in this encoding."""
    classes: tuple[type[ColumnBuffer], ...] = (FinitePredicateBuffer, CounterBuffer, BitvectorBuffer)
    return next(found for found in classes if found.encoding == encoding)


def check_encoding(encoding: str, delta: int | None) -> None:
    """Refuse an encoding that cannot hold this Δ (``None``: any Δ)."""
    if encoding not in ENCODINGS:
        raise UsageError(f"there is no buffer {encoding}", f"there are {', '.join(ENCODINGS)}")
    if delta is None and encoding != "predicate":
        raise UsageError(f"--buffer {encoding} needs a fixed delta", "give --delta a number, or --buffer predicate")
    if delta is not None and delta > LARGEST_DELTA:
        raise UsageError(f"a fixed delta is at most {LARGEST_DELTA}, got {delta}", "use --delta symbolic")
    if delta is not None and encoding == "counter" and delta > CounterBuffer.largest_delta:
        raise UsageError(
            f"--buffer counter holds delta up to {CounterBuffer.largest_delta}, got {delta}", "use --buffer bitvector"
        )


def _at_age(age: Number, ages: Iterable[int], at: Callable[[int], Truth]) -> Truth:
    """``at(age)`` where the age is one of ``ages``, else false: a look-up if the age is known, else a case split."""
    if isinstance(age, int):
        return at(age) if age in ages else False
    return Or(*(And(age == k, at(k)) for k in ages))


def subsets(ages: Iterable[int]) -> Iterator[frozenset[int]]:
    """Every subset, smallest first by the binary number it spells, so that the order is the same everywhere."""
    ordered = sorted(ages)
    for code in range(1 << len(ordered)):
        yield frozenset(age for bit, age in enumerate(ordered) if code >> bit & 1)
