"""Claims about the ages of a buffer with symbolic Δ, without quantifiers in the solver's input.

They are made of two kinds of named truth values.  A *read* names whether a message of a certain age is in transit after
a round.  A *claim* is ``forall(low, high, body)``: a truth value q such that, for each chosen age a,
``q ⇒ (low ≤ a ≤ high ⇒ body(a))``, and ``¬q ⇒ (low ≤ c ≤ high ∧ ¬body(c))`` for an age c of its own.  Both follow from
q ⇔ ∀, so ``unsat`` is a proof whichever ages were chosen, and under whichever connectives claims occur.  ``sat`` is
only a candidate, unless Δ is bounded and all ages up to the bound were chosen.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from hashlib import sha256
from typing import Any, TypeAlias

import z3

from fdverify.errors import SourceLocation, UsageError
from fdverify.logic import And, Implies, Not, Number, Or, Truth
from fdverify.models.buffer import PredicateBuffer
from fdverify.symbolic.values import Bool, Int, lift_truth

_ZERO = Int(z3.IntVal(0))


class AgeRead:
    """A name for whether a message of some age is in transit; its definition is built on first use."""

    def __init__(self, constant: Bool, has: Callable[[], Truth]) -> None:
        self.constant = constant
        self.define = lambda: lift_truth(constant == has())
        self.definition: AgeFact | None = None


class AgeClaim:
    """The claim that ``body`` holds for all ages in a range; ``rank`` is the number of claims around it."""

    def __init__(
        self, name: str, shape: Any, inside: Callable[[Number], Truth], body: Callable[[Number], Truth]
    ) -> None:
        self.shape = shape
        self.holds = Bool(z3.Bool(f"all!{name}"))
        self.exception = Int(z3.Int(f"age!{name}"))
        self.inside = inside
        self.body = body
        self.rank = 0
        self.spelled: dict[int, AgeFact] = {}
        self.failing: AgeFact | None = None

    def instantiate(self, age: Number) -> Truth:
        return Implies(self.inside(age), self.body(age))


Mention: TypeAlias = AgeRead | AgeClaim


@dataclass(frozen=True)
class AgeFact:
    """A formula that holds by definition, and the reads and claims that occur in it."""

    term: Any
    mentions: tuple[Mention, ...]


class AgeClaimRegistry:
    """The reads and claims of one unrolling; it records which of them a formula mentions while it is built."""

    def __init__(self) -> None:
        self._claims: dict[str, AgeClaim] = {}
        self._mentioned: dict[int, Mention] = {}
        self._rank = 0
        self._probes = 0

    @property
    def depth(self) -> int:
        """The number of nested claims that are being built only to see their shape."""
        return self._probes

    @property
    def probing(self) -> bool:
        """Whether a claim is being built only to see its shape."""
        return self._probes > 0

    def record_mention(self, mention: Mention) -> None:
        if not self.probing:
            self._mentioned[id(mention)] = mention

    def take_mentions(self) -> tuple[Mention, ...]:
        """Return what was mentioned since the last call."""
        mentioned, self._mentioned = self._mentioned, {}
        return tuple(mentioned.values())

    def build_fact(self, build: Callable[[], Any], rank: int = 0) -> AgeFact:
        """Build a fact, separately from any formula that is under construction."""
        outer, self._mentioned = self._mentioned, {}
        outer_rank, self._rank = self._rank, rank
        try:
            return AgeFact(build(), self.take_mentions())
        finally:
            self._mentioned, self._rank = outer, outer_rank

    def make_claim(self, delta: Number, low: Number, high: Number, body: Callable[[Number], Truth]) -> AgeClaim:
        def is_inside(age: Number) -> Truth:
            return And(age >= 0, age <= delta, low <= age, age <= high)

        shape = self._build_shape(is_inside, body)
        # The name is a hash of the shape, so the same claim has the same name wherever it is made.
        name = sha256(shape.sexpr().encode()).hexdigest()[:16]
        if name not in self._claims:
            claim = AgeClaim(name, shape, is_inside, body)
            claim.rank = self._rank
            if self.probing:
                return claim
            self._claims[name] = claim
        claim = self._claims[name]
        claim.rank = min(claim.rank, self._rank)
        self.record_mention(claim)
        return claim

    def _build_shape(self, inside: Callable[[Number], Truth], body: Callable[[Number], Truth]) -> Any:
        """Return what a claim says about a generic age."""
        with self._provide_generic_age() as age:
            return z3.And(lift_truth(inside(age)), lift_truth(body(age)))

    def check_unchanged(self, claim: AgeClaim) -> None:
        """Refuse a body that now says something else, such as one that reads a loop variable."""
        if not self._build_shape(claim.inside, claim.body).eq(claim.shape):
            place, message = _locate_body(claim.body), "the body of forall or exists has changed since the call"
            raise UsageError(
                f"a claim: {message}" if place is None else message,
                "bind loop variables as defaults: lambda age, i=i: ...",
                place,
            )

    def instantiate_claim(self, claim: AgeClaim, key: int, age: Int) -> AgeFact:
        """Instantiate a claim at one age."""
        if key not in claim.spelled:
            claim.spelled[key] = self.build_fact(
                lambda: lift_truth(Implies(claim.holds, claim.instantiate(age))), claim.rank + 1
            )
        return claim.spelled[key]

    def build_failure(self, claim: AgeClaim) -> AgeFact:
        """Return the fact that a false claim fails at an age of its own."""
        if claim.failing is None:
            claim.failing = self.build_fact(
                lambda: lift_truth(Implies(Not(claim.holds), Not(claim.instantiate(claim.exception)))), claim.rank + 1
            )
        return claim.failing

    def define_read(self, read: AgeRead) -> AgeFact:
        if read.definition is None:
            read.definition = self.build_fact(read.define)
        return read.definition

    @contextmanager
    def _provide_generic_age(self) -> Iterator[Int]:
        """Provide a generic age; a claim inside another one has its own."""
        self._probes += 1
        try:
            yield Int(z3.Int(f"age!{self._probes}"))  # no parameter can have this name
        finally:
            self._probes -= 1


@dataclass
class FactClosure:
    """All facts that the formulas added so far need: definitions, and instances of claims at the chosen ages."""

    book: AgeClaimRegistry
    reach: int = 0
    _ages: dict[int, tuple[Int, int]] = field(default_factory=dict)
    _seeds: list[tuple[Number, int]] = field(default_factory=list)
    _claims: list[AgeClaim] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)
    _spelled: set[tuple[int, int]] = field(default_factory=set)

    def copy(self) -> FactClosure:
        """Return a copy to extend while this one stays as it is."""
        return FactClosure(
            self.book,
            self.reach,
            dict(self._ages),
            list(self._seeds),
            list(self._claims),
            set(self._seen),
            set(self._spelled),
        )

    def extend_reach(self, rounds: int) -> None:
        """Choose more neighbours of each chosen age: messages grow older by one a round, so they matter, too."""
        self.reach = rounds
        for age, rank in self._seeds:
            self._choose_neighbours(age, rank)

    def choose_age(self, age: Number, rank: int = 0) -> None:
        """Instantiate every claim, from now on, at this age and its neighbours."""
        self._seeds.append((age, rank))
        self._choose_neighbours(age, rank)

    def _choose_neighbours(self, age: Number, rank: int) -> None:
        for offset in range(-self.reach, self.reach + 1):
            term = z3.simplify(_ZERO.lift(age + offset))
            # The term is kept, because Z3 reuses the identity of a dead term.
            self._ages.setdefault(term.get_id(), (Int(term), rank))

    def add_mentions(self, mentions: Iterable[Mention]) -> list[Any]:
        """Return the facts that these mentions, and the ages chosen since, add to those returned before."""
        terms: list[Any] = []
        waiting = list(mentions)
        while True:
            while waiting:
                waiting.extend(self._add_mention(waiting.pop(0), terms))
            fresh = [
                (claim, key, age)
                for claim in self._claims
                for key, (age, rank) in self._ages.items()
                # A claim instantiated at the exception of a claim inside it would bring another one, without end.
                if (id(claim), key) not in self._spelled and rank <= claim.rank
            ]
            if not fresh:
                return terms
            for claim in {id(claim): claim for claim, _, _ in fresh}.values():
                self.book.check_unchanged(claim)
            for claim, key, age in fresh:
                self._spelled.add((id(claim), key))
                waiting.extend(_hand_over(self.book.instantiate_claim(claim, key, age), terms))

    def _add_mention(self, mention: Mention, terms: list[Any]) -> tuple[Mention, ...]:
        if id(mention) in self._seen:
            return ()
        self._seen.add(id(mention))
        if isinstance(mention, AgeRead):
            return _hand_over(self.book.define_read(mention), terms)
        self.book.check_unchanged(mention)
        self._claims.append(mention)
        self.choose_age(mention.exception, mention.rank)
        return _hand_over(self.book.build_failure(mention), terms)

    @property
    def has_claims(self) -> bool:
        return bool(self._claims)


def _hand_over(fact: AgeFact, terms: list[Any]) -> tuple[Mention, ...]:
    terms.append(fact.term)
    return fact.mentions


def _locate_body(body: Any) -> SourceLocation | None:
    code = getattr(inspect.unwrap(body), "__code__", None)
    return None if code is None else SourceLocation.from_code(code)


class SymbolicBuffer(PredicateBuffer):
    """A buffer with symbolic Δ that supports quantification over its ages."""

    def __init__(self, delta: Number, member: Callable[[Number], Truth], book: AgeClaimRegistry) -> None:
        super().__init__(delta, member)
        self.book = book

    def forall(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        return self.book.make_claim(self.delta, low, high, body).holds

    def single(self) -> Truth:
        """Return whether all messages have the age at which the claim "there is none" fails, if it does."""
        none = self.book.make_claim(self.delta, 0, self.delta, lambda age: Not(self.has(age)))
        return Or(none.holds, self.forall(0, self.delta, lambda age: Implies(self.has(age), age == none.exception)))

    def exists(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        @wraps(body)
        def is_false(age: Number) -> Truth:
            return Not(body(age))

        return Not(self.forall(low, high, is_false))

    def _with_member(self, member: Callable[[Number], Truth]) -> SymbolicBuffer:
        return SymbolicBuffer(self.delta, member, self.book)
