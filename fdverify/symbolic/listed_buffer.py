"""A buffer with symbolic Δ in a run from the initial state: the ages that its messages can have are listed.

A message grows older by at most one each time that it ages, or has age Δ.  So finitely many ages are possible, and a
truth value for each says whether a message has it.  There are neither unknown predicates nor ages to instantiate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import z3

from fdverify.logic import And, If, Implies, Not, Number, Or, Truth
from fdverify.models.buffer import Buffer
from fdverify.symbolic.age_claims import AgeClaimRegistry, SymbolicBuffer
from fdverify.symbolic.values import Bool, Int


class ListedBuffer(SymbolicBuffer):
    """A set of ages, of which only the listed ones and Δ are possible.

    ``younger`` says for each listed age whether it is below Δ and a message has it; ``oldest`` says whether
    a message of age Δ is.
    """

    def __init__(self, delta: Int, younger: Mapping[int, Truth], oldest: Truth, book: AgeClaimRegistry) -> None:
        super().__init__(delta, self.has, book)
        self.younger = {age: member for age, member in younger.items() if member is not False}
        self.oldest = oldest

    @classmethod
    def from_ages(cls, delta: Int, ages: Iterable[Number], book: AgeClaimRegistry) -> ListedBuffer | None:
        """Build the buffer with those of these ages that are in 0..Δ, if they can be listed."""
        younger: dict[int, Truth] = {}
        oldest: Truth = False
        for age in ages:
            if isinstance(age, int):
                younger[age] = And(age >= 0, age < delta)
                oldest = Or(oldest, And(age >= 0, age == delta))
            elif _is_same(age, delta):
                oldest = True
            else:
                return None
        return cls(delta, younger, oldest, book)

    def has(self, age: Number) -> Truth:
        if _is_same(age, self.delta):
            return self.oldest
        if isinstance(age, int):
            younger = self.younger.get(age, False)
        else:
            younger = Or(*(And(age == listed, member) for listed, member in self.younger.items()))
        return Or(younger, And(age == self.delta, self.oldest))

    def any(self, low: Number, high: Number) -> Truth:
        younger = (And(low <= age, age <= high, member) for age, member in self.younger.items())
        return Or(And(low <= self.delta, self.delta <= high, self.oldest), *younger)

    def empty(self) -> Truth:
        return Not(Or(self.oldest, *self.younger.values()))

    def single(self) -> Truth:
        some, single = self.oldest, list[Truth]()
        for member in self.younger.values():
            single.append(Not(And(some, member)))
            some = Or(some, member)
        return And(*single)

    def send(self, when: Truth) -> ListedBuffer:
        fresh = Or(self.younger.get(0, False), And(when, self.delta > 0))
        return self._with_ages({**self.younger, 0: fresh}, Or(self.oldest, And(when, self.delta == 0)))

    def age(self, when: Truth = True) -> ListedBuffer:
        aged = {age + 1: And(member, age + 1 < self.delta) for age, member in self.younger.items()}
        grown = Or(self.oldest, *(And(member, age + 1 == self.delta) for age, member in self.younger.items()))
        ages = sorted({*aged, *self.younger})
        younger = {age: _choose(when, aged.get(age, False), self.younger.get(age, False)) for age in ages}
        return self._with_ages(younger, _choose(when, grown, self.oldest))

    def deliver(self, delivered: Buffer) -> ListedBuffer:
        younger = {age: And(member, Not(self._is_age_in(age, delivered))) for age, member in self.younger.items()}
        return self._with_ages(younger, And(self.oldest, Not(delivered.has(self.delta))))

    def clear(self, when: Truth = True) -> ListedBuffer:
        younger = {age: And(member, Not(when)) for age, member in self.younger.items()}
        return self._with_ages(younger, And(self.oldest, Not(when)))

    def within(self, other: Buffer) -> Truth:
        younger = (Implies(member, self._is_age_in(age, other)) for age, member in self.younger.items())
        return And(Implies(self.oldest, other.has(self.delta)), *younger)

    def build_subset(self, name: str) -> ListedBuffer:
        """Build an arbitrary subset, which must be within this buffer."""
        younger = {age: Bool(z3.Bool(f"{name}_{age}")) for age in self.younger}
        return self._with_ages(younger, Bool(z3.Bool(f"{name}_oldest")))

    def _is_age_in(self, age: int, other: Buffer) -> Truth:
        """Return whether a listed age, which is below Δ, is in another buffer."""
        if isinstance(other, ListedBuffer) and _is_same(other.delta, self.delta):
            return other.younger.get(age, False)
        return other.has(age)

    def _with_ages(self, younger: Mapping[int, Truth], oldest: Truth) -> ListedBuffer:
        return ListedBuffer(self.delta, younger, oldest, self.book)


def _is_same(age: Number, delta: Int) -> bool:
    return isinstance(age, Int) and age.term.eq(delta.term)


def _choose(when: Truth, then: Truth, otherwise: Truth) -> Truth:
    """Choose between truth values, any of which may be known."""
    return If(when, then, otherwise) if isinstance(when, bool) else And(Or(Not(when), then), Or(when, otherwise))
