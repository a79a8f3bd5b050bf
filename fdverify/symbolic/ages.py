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

from fdverify.errors import UsageError, located
from fdverify.logic import And, Implies, Not, Number, Or, Truth
from fdverify.models.buffer import PredicateBuffer
from fdverify.symbolic.values import Bool, Int, truth

_ZERO = Int(z3.IntVal(0))


class Read:
    """A name for whether a message of some age is in transit; its definition is built on first use."""

    def __init__(self, constant: Bool, has: Callable[[], Truth]) -> None:
        self.constant = constant
        self.define = lambda: truth(constant == has())
        self.definition: Fact | None = None


class Claim:
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
        self.spelled: dict[int, Fact] = {}
        self.failing: Fact | None = None

    def at(self, age: Number) -> Truth:
        return Implies(self.inside(age), self.body(age))


Mention: TypeAlias = Read | Claim


@dataclass(frozen=True)
class Fact:
    """A formula that holds by definition, and the reads and claims that occur in it."""

    term: Any
    mentions: tuple[Mention, ...]


class AgeBook:
    """The reads and claims of one unrolling; it records which of them a formula mentions while it is built."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}
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

    def mention(self, mention: Mention) -> None:
        if not self.probing:
            self._mentioned[id(mention)] = mention

    def take_mentions(self) -> tuple[Mention, ...]:
        """Return what was mentioned since the last call."""
        mentioned, self._mentioned = self._mentioned, {}
        return tuple(mentioned.values())

    def fact(self, build: Callable[[], Any], rank: int = 0) -> Fact:
        """Build a fact, separately from any formula that is under construction."""
        outer, self._mentioned = self._mentioned, {}
        outer_rank, self._rank = self._rank, rank
        try:
            return Fact(build(), self.take_mentions())
        finally:
            self._mentioned, self._rank = outer, outer_rank

    def claim(self, delta: Number, low: Number, high: Number, body: Callable[[Number], Truth]) -> Claim:
        def inside(age: Number) -> Truth:
            return And(age >= 0, age <= delta, low <= age, age <= high)

        shape = self._shape(inside, body)
        # The name is a hash of the shape, so the same claim has the same name wherever it is made.
        name = sha256(shape.sexpr().encode()).hexdigest()[:16]
        if name not in self._claims:
            claim = Claim(name, shape, inside, body)
            claim.rank = self._rank
            if self.probing:
                return claim
            self._claims[name] = claim
        claim = self._claims[name]
        claim.rank = min(claim.rank, self._rank)
        self.mention(claim)
        return claim

    def _shape(self, inside: Callable[[Number], Truth], body: Callable[[Number], Truth]) -> Any:
        """Return what a claim says about a generic age."""
        with self._probe() as age:
            return z3.And(truth(inside(age)), truth(body(age)))

    def check_unchanged(self, claim: Claim) -> None:
        """Refuse a body that now says something else, such as one that reads a loop variable."""
        if not self._shape(claim.inside, claim.body).eq(claim.shape):
            raise UsageError(
                f"{_source(claim.body)}: the body of forall or exists has changed since the call",
                "bind loop variables as defaults: lambda age, i=i: ...",
            )

    def spelled(self, claim: Claim, key: int, age: Int) -> Fact:
        """Instantiate a claim at one age."""
        if key not in claim.spelled:
            claim.spelled[key] = self.fact(lambda: truth(Implies(claim.holds, claim.at(age))), claim.rank + 1)
        return claim.spelled[key]

    def failing(self, claim: Claim) -> Fact:
        """Return the fact that a false claim fails at an age of its own."""
        if claim.failing is None:
            claim.failing = self.fact(
                lambda: truth(Implies(Not(claim.holds), Not(claim.at(claim.exception)))), claim.rank + 1
            )
        return claim.failing

    def definition(self, read: Read) -> Fact:
        if read.definition is None:
            read.definition = self.fact(read.define)
        return read.definition

    @contextmanager
    def _probe(self) -> Iterator[Int]:
        """Provide a generic age; a claim inside another one has its own."""
        self._probes += 1
        try:
            yield Int(z3.Int(f"age!{self._probes}"))  # no parameter can have this name
        finally:
            self._probes -= 1


@dataclass
class Closure:
    """All facts that the formulas added so far need: definitions, and instances of claims at the chosen ages."""

    book: AgeBook
    reach: int = 0
    _ages: dict[int, tuple[Int, int]] = field(default_factory=dict)
    _seeds: list[tuple[Number, int]] = field(default_factory=list)
    _claims: list[Claim] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)
    _spelled: set[tuple[int, int]] = field(default_factory=set)

    def copy(self) -> Closure:
        """Return a copy to extend while this one stays as it is."""
        return Closure(
            self.book,
            self.reach,
            dict(self._ages),
            list(self._seeds),
            list(self._claims),
            set(self._seen),
            set(self._spelled),
        )

    def reach_further(self, rounds: int) -> None:
        """Choose more neighbours of each chosen age: messages grow older by one a round, so they matter, too."""
        self.reach = rounds
        for age, rank in self._seeds:
            self._choose_around(age, rank)

    def choose(self, age: Number, rank: int = 0) -> None:
        """Instantiate every claim, from now on, at this age and its neighbours."""
        self._seeds.append((age, rank))
        self._choose_around(age, rank)

    def _choose_around(self, age: Number, rank: int) -> None:
        for offset in range(-self.reach, self.reach + 1):
            term = z3.simplify(_ZERO.lift(age + offset))
            # The term is kept, because Z3 reuses the identity of a dead term.
            self._ages.setdefault(term.get_id(), (Int(term), rank))

    def add(self, mentions: Iterable[Mention]) -> list[Any]:
        """Return the facts that these mentions, and the ages chosen since, add to those returned before."""
        terms: list[Any] = []
        waiting = list(mentions)
        while True:
            while waiting:
                waiting.extend(self._enter(waiting.pop(0), terms))
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
                waiting.extend(_handed(self.book.spelled(claim, key, age), terms))

    def _enter(self, mention: Mention, terms: list[Any]) -> tuple[Mention, ...]:
        if id(mention) in self._seen:
            return ()
        self._seen.add(id(mention))
        if isinstance(mention, Read):
            return _handed(self.book.definition(mention), terms)
        self.book.check_unchanged(mention)
        self._claims.append(mention)
        self.choose(mention.exception, mention.rank)
        return _handed(self.book.failing(mention), terms)

    @property
    def has_claims(self) -> bool:
        return bool(self._claims)


def _handed(fact: Fact, terms: list[Any]) -> tuple[Mention, ...]:
    terms.append(fact.term)
    return fact.mentions


def _source(body: Any) -> str:
    code = getattr(inspect.unwrap(body), "__code__", None)
    return "a claim" if code is None else located(code.co_filename, code.co_firstlineno)


class ClaimedBuffer(PredicateBuffer):
    """A buffer with symbolic Δ that supports quantification over its ages."""

    def __init__(self, delta: Number, member: Callable[[Number], Truth], book: AgeBook) -> None:
        super().__init__(delta, member)
        self.book = book

    def forall(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        return self.book.claim(self.delta, low, high, body).holds

    def single(self) -> Truth:
        """Return whether all messages have the age at which the claim "there is none" fails, if it does."""
        none = self.book.claim(self.delta, 0, self.delta, lambda age: Not(self.has(age)))
        return Or(none.holds, self.forall(0, self.delta, lambda age: Implies(self.has(age), age == none.exception)))

    def exists(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        @wraps(body)
        def fails(age: Number) -> Truth:
            return Not(body(age))

        return Not(self.forall(low, high, fails))

    def _with(self, member: Callable[[Number], Truth]) -> ClaimedBuffer:
        return ClaimedBuffer(self.delta, member, self.book)
