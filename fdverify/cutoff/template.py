"""A symmetric point-to-point algorithm: what each of N processes does, given by three functions.

A process has a location, and for each of its peers (itself included) one value.  Where it goes next and what it sends
to all depends on the location alone; how the value for a peer changes depends on the location, on what has just been
delivered from that peer, and on that value.  Nothing else can be written here, so what is written is in the class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

from fdverify.cutoff.rounds import Kind, Rounds
from fdverify.errors import UsageError, did_you_mean
from fdverify.logic import Truth, shortened

__all__ = ["CRASHED", "Claim", "Kind", "Location", "Template"]

Location: TypeAlias = str
CRASHED: Location = "crashed"
CORRECT = "correct"
"""The predicate of one index that every template has."""


_ASKED = 1000
"""Of so many values at most it is asked whether there is a next one: there may be infinitely many."""


class Temporal(StrEnum):
    """The formulas that the explorer decides: of every state, and of all from some time on."""

    ALWAYS = "G"
    EVENTUALLY_ALWAYS = "F G"


@dataclass(frozen=True)
class Claim:
    """A property of all processes that its indexes stand for: ``G (correct(p) & correct(q) -> !suspected(p, q))``."""

    name: str
    formula: str
    meaning: str


@dataclass(frozen=True)
class Template:
    """The three functions, where a process starts, and what is claimed.

    ``predicates`` are those of two indexes, as functions of p's value for q; ``correct(p)`` is always there.  An
    algorithm whose rounds are not those of the class has ``rounds`` of its own: then nothing holds by construction, and
    the lemmas are checked of them.
    """

    name: str
    summary: str
    locations: Mapping[Location, Kind]
    start: Location
    start_value: Any
    next_location: Callable[[Any], Any]
    generate_message: Callable[[Any], Any]
    next_value: Callable[[Any, Any, Any], Any]
    predicates: Mapping[str, Callable[[Any], Truth]]
    claims: tuple[Claim, ...]
    rounds: Rounds = field(default_factory=Rounds)

    def __post_init__(self) -> None:
        if not self.locations:
            raise UsageError(f"{self.name} has no locations")
        for location, kind in self.locations.items():
            if not isinstance(kind, Kind) or kind is Kind.CRASHED or location == CRASHED:
                raise UsageError(
                    f"{self.name}: location {location} is of kind {shortened(kind)}",
                    "a kind is Kind.SEND, Kind.RECEIVE or Kind.COMPUTE; crashed is there without being declared",
                )
        if self.start not in self.locations:
            raise UsageError(f"{self.name} starts at {self.start}, which is none of its locations")
        for location, kind in self.locations.items():
            self._check_location(location, kind)
        self._check_hashable("value", self.start_value)
        for name, predicate in self.predicates.items():
            if not callable(predicate):
                raise UsageError(f"{self.name}: the predicate {name} is {shortened(predicate)}, not a function")
        if not isinstance(self.claims, tuple) or not all(isinstance(claim, Claim) for claim in self.claims):
            raise UsageError(f"{self.name}: its claims are {shortened(self.claims)}, not a tuple of Claim")
        if CORRECT in self.predicates:
            raise UsageError(f"{self.name} declares the predicate {CORRECT}, which every template has")
        if not isinstance(self.rounds, Rounds):
            raise UsageError(f"{self.name}: its rounds are {shortened(self.rounds)}, not Rounds")
        # It sees to it that every rule is in a lemma.
        if getattr(self.rounds.step, "__func__", None) is not Rounds.step:
            raise UsageError(f"{self.name}: its rounds have a step of their own", "write the sub-rounds instead")

    def _check_location(self, location: Location, kind: Kind) -> None:
        """The functions of a location are total, and send a message where one is sent."""
        for name, function in (("next_location", self.next_location), ("generate_message", self.generate_message)):
            if function(location) != function(location):
                raise UsageError(f"{self.name}: {name} gives two answers at {location}", "let it depend on that only")
        following = self.next_location(location)
        if following not in self.locations:
            raise UsageError(
                f"{self.name}: next_location({location}) is {shortened(following)}, which is none of its locations"
            )
        message = self.generate_message(location)
        self._check_hashable("message", message)
        if (message is not None) != (kind is Kind.SEND):
            what = "nothing" if message is None else shortened(message)
            raise UsageError(
                f"{self.name}: at {location}, a {kind} location, generate_message gives {what}",
                "a send location sends one message, and no other location sends any",
            )

    def check_total(self) -> None:
        """Ask next_value of what one process can come to know of one peer, or of the first part of it, each twice."""
        messages = sorted(
            {self.generate_message(at) for at, kind in self.locations.items() if kind is Kind.SEND}, key=repr
        )
        heard = [frozenset(some) for size in range(len(messages) + 1) for some in combinations(messages, size)]
        known, waiting = {(self.start, self.start_value)}, [(self.start, self.start_value)]
        while waiting and len(known) < _ASKED:
            location, value = waiting.pop(0)
            for some in heard if self.locations[location] is Kind.RECEIVE else heard[:1]:
                found = (self.next_location(location), self.checked_value(location, some, value))
                if self.next_value(location, some, value) != found[1]:
                    raise self.two_answers(location, value)
                if found not in known:
                    known.add(found)
                    waiting.append(found)

    def checked_value(self, location: Location, messages: frozenset[Any], value: Any) -> Any:
        """The next value, if it is one: hashable, and of the sort that it began with."""
        found = self.next_value(location, messages, value)
        if type(found) is not type(self.start_value):
            heard = "{" + ", ".join(map(str, sorted(messages, key=repr))) + "}"
            told = f"next_value({location}, {heard}, {shortened(value)})"
            raise UsageError(f"{self.name}: {told} is {shortened(found)}, which is no value like the first one")
        self._check_hashable("value", found)
        return found

    def _check_hashable(self, what: str, found: Any) -> None:
        try:
            hash(found)
        except TypeError:
            raise UsageError(f"{self.name}: the {what} {shortened(found)} cannot be hashed") from None

    def two_answers(self, location: Location, value: Any) -> UsageError:
        return UsageError(
            f"{self.name}: next_value gives two answers at {location} for {shortened(value)}",
            "let it depend on its three arguments only",
        )

    def claim(self, name: str) -> Claim:
        known = {claim.name: claim for claim in self.claims}
        if name not in known:
            raise UsageError(f"{self.name} has no property {name}", did_you_mean(name, known) if known else None)
        return known[name]

    @cached_property
    def arities(self) -> dict[str, int]:
        """How many indexes each predicate has."""
        return {CORRECT: 1, **dict.fromkeys(self.predicates, 2)}
