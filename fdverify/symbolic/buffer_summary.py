"""An abstraction of the message buffer: the oldest and the youngest age in transit.

What lies between the two is unknown, and a question about it may be answered either way.  Every set of ages is
simulated by its summary, so a claim that is inductive over summaries is inductive over sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import z3

from fdverify.errors import UsageError
from fdverify.logic import And, If, Max, Min, Not, Number, Or, Truth
from fdverify.models.buffer import Buffer
from fdverify.symbolic.values import Bool, Int


class SummaryBuffer(Buffer):
    """A summary; if empty, its oldest age is −1 and its youngest Δ+1, so that comparisons need no case split."""

    encoding: ClassVar[str] = "summary"

    def __init__(self, delta: Number, oldest: Number, youngest: Number) -> None:
        self.delta = delta
        self.oldest = oldest
        self.youngest = youngest
        self._answers: dict[tuple[Any, ...], tuple[list[Any], Truth]] = {}

    @classmethod
    def from_name(cls, delta: Number, name: str) -> Self:
        """Build an arbitrary summary; :meth:`is_in_range` says what it must satisfy."""
        return cls(delta, Int(z3.Int(f"{name}.oldest")), Int(z3.Int(f"{name}.youngest")))

    @classmethod
    def from_ages(cls, delta: Number, ages: Iterable[Number]) -> Self:
        """Build the summary of these ages."""
        oldest, youngest = -1, delta + 1
        for age in ages:
            oldest, youngest = Max(oldest, age), Min(youngest, age)
        return cls(delta, oldest, youngest)

    def is_in_range(self) -> Truth:
        nonempty = And(self.youngest >= 0, self.youngest <= self.oldest, self.oldest <= self.delta)
        return Or(nonempty, And(self.oldest == -1, self.youngest == self.delta + 1))

    def empty(self) -> Truth:
        return self.oldest < 0

    def single(self) -> Truth:
        return self.oldest <= self.youngest

    def has(self, age: Number) -> Truth:
        return self.any(age, age)

    def any(self, low: Number, high: Number) -> Truth:
        low, high = Max(low, 0), Min(high, self.delta)
        at_an_end = Or(*(And(low <= end, end <= high) for end in (self.oldest, self.youngest)))
        between = And(self.youngest < low, low <= high, high < self.oldest)
        return Or(at_an_end, And(between, self._answer_unknown("any", low, high)))

    def exists(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        return self._answer_unknown("exists", low, high, body)

    def forall(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        return self._answer_unknown("forall", low, high, body)

    def send(self, when: Truth) -> Self:
        return type(self)(self.delta, If(when, Max(self.oldest, 0), self.oldest), If(when, 0, self.youngest))

    def age(self, when: Truth = True) -> Self:
        grows = And(when, Not(self.empty()))

        def increment_age(age: Number) -> Number:
            return If(grows, Min(age + 1, self.delta), age)

        return type(self)(self.delta, increment_age(self.oldest), increment_age(self.youngest))

    def deliver(self, delivered: Self) -> Self:
        if not isinstance(delivered, SummarySelection) or delivered.source is not self:
            raise UsageError("a summary can only deliver a selection of its own ages")
        return type(self)(self.delta, delivered.left.oldest, delivered.left.youngest)

    def clear(self, when: Truth = True) -> Self:
        return type(self)(self.delta, If(when, -1, self.oldest), If(when, self.delta + 1, self.youngest))

    def within(self, other: Self) -> Truth:
        return self._answer_unknown("within", other)

    def _answer_unknown(self, *question: Any) -> Truth:
        """Return an unknown answer, the same one for the same question."""
        parts = [part.term if isinstance(part, Int) else part for part in question]
        key = tuple(part.get_id() if isinstance(part, z3.ExprRef) else part for part in parts)
        if key not in self._answers:
            # The terms are kept, because Z3 reuses the identity of a dead term.
            self._answers[key] = parts, Bool(z3.FreshBool("unknown"))
        return self._answers[key][1]


class SummarySelection(SummaryBuffer):
    """Some ages of a summary, and what is left of it."""

    def __init__(self, source: SummaryBuffer, name: str) -> None:
        chosen = SummaryBuffer.from_name(source.delta, name)
        super().__init__(source.delta, chosen.oldest, chosen.youngest)
        self.source = source
        self.left = SummaryBuffer.from_name(source.delta, f"{name}.left")

    def within(self, other: SummaryBuffer) -> Truth:
        if other is not self.source:
            raise UsageError("a selection from a summary can only be compared with that summary")
        both = And(Not(self.empty()), Not(self.left.empty()))
        apart = And(self.oldest != self.left.oldest, self.youngest != self.left.youngest)
        return And(
            self.is_in_range(),
            self.left.is_in_range(),
            Max(self.oldest, self.left.oldest) == other.oldest,
            Min(self.youngest, self.left.youngest) == other.youngest,
            Or(Not(both), apart),
        )
