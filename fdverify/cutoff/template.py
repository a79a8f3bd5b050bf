"""Symmetric point-to-point algorithms: each of N processes runs the same three functions.

A process has a location, and one value for each of its peers (itself included).  The next location and the message sent
to all depend on the location alone.  The next value for a peer depends on the location, on the messages just delivered
from that peer, and on the old value.  A template cannot express anything else, so it is in the class by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

from fdverify.cutoff.rounds import Kind, Rounds
from fdverify.errors import UsageError, suggest_name
from fdverify.logic import Truth, shorten_value

__all__ = ["CRASHED", "Claim", "Kind", "Location", "Template"]

Location: TypeAlias = str
CRASHED: Location = "crashed"
CORRECT = "correct"
"""The one-index predicate that every template has."""


_ASKED = 1000
"""The most values for which ``next_value`` is tried beforehand: there may be infinitely many."""


class Temporal(StrEnum):
    """The formulas that the explorer decides: invariance and stabilisation."""

    ALWAYS = "G"
    EVENTUALLY_ALWAYS = "F G"


@dataclass(frozen=True)
class Claim:
    """A property for all processes p and q, such as ``G (correct(p) & correct(q) -> !suspected(p, q))``."""

    name: str
    formula: str
    meaning: str


@dataclass(frozen=True)
class Template:
    """A symmetric point-to-point algorithm: three functions, the start of a process, and claims.

    ``predicates`` are those of two indexes, as functions of p's value for q; ``correct(p)`` is predefined.  An
    algorithm outside of the class has its own ``rounds``: then the lemmas are checked for these rounds.
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
                    f"{self.name}: location {location} is of kind {shorten_value(kind)}",
                    "a kind is Kind.SEND, Kind.RECEIVE or Kind.COMPUTE; crashed is there without being declared",
                )
        if self.start not in self.locations:
            raise UsageError(f"{self.name} starts at {self.start}, which is not one of its locations")
        for location, kind in self.locations.items():
            self._check_location(location, kind)
        self._check_hashable("value", self.start_value)
        for name, predicate in self.predicates.items():
            if not callable(predicate):
                raise UsageError(f"{self.name}: the predicate {name} is {shorten_value(predicate)}, not a function")
        if not isinstance(self.claims, tuple) or not all(isinstance(claim, Claim) for claim in self.claims):
            raise UsageError(f"{self.name}: its claims are {shorten_value(self.claims)}, not a tuple of Claim")
        if CORRECT in self.predicates:
            raise UsageError(f"{self.name} declares the predicate {CORRECT}, which every template has")
        if not isinstance(self.rounds, Rounds):
            raise UsageError(f"{self.name}: its rounds are {shorten_value(self.rounds)}, not Rounds")
        # Rounds.step makes sure that every rule is covered by a lemma.
        if getattr(self.rounds.step, "__func__", None) is not Rounds.step:
            raise UsageError(f"{self.name}: its rounds have a step of their own", "write the sub-rounds instead")

    def _check_location(self, location: Location, kind: Kind) -> None:
        """Refuse functions that are not deterministic or total at a location, or send where its kind forbids it."""
        for name, function in (("next_location", self.next_location), ("generate_message", self.generate_message)):
            if function(location) != function(location):
                raise UsageError(f"{self.name}: {name} gives two answers at {location}", "let it depend on that only")
        following = self.next_location(location)
        if following not in self.locations:
            raise UsageError(
                f"{self.name}: next_location({location}) is {shorten_value(following)}, "
                "which is not one of its locations"
            )
        message = self.generate_message(location)
        self._check_hashable("message", message)
        if (message is not None) != (kind is Kind.SEND):
            result = "nothing" if message is None else shorten_value(message)
            raise UsageError(
                f"{self.name}: at {location}, a {kind} location, generate_message gives {result}",
                "a send location sends one message, and no other location sends any",
            )

    def check_next_value(self) -> None:
        """Evaluate next_value twice on the reachable values, up to a limit; refuse it if it is not deterministic."""
        messages = sorted(
            {self.generate_message(at) for at, kind in self.locations.items() if kind is Kind.SEND}, key=repr
        )
        subsets = [frozenset(subset) for size in range(len(messages) + 1) for subset in combinations(messages, size)]
        known, waiting = {(self.start, self.start_value)}, [(self.start, self.start_value)]
        while waiting and len(known) < _ASKED:
            location, value = waiting.pop(0)
            for delivered in subsets if self.locations[location] is Kind.RECEIVE else subsets[:1]:
                following = (self.next_location(location), self.compute_value(location, delivered, value))
                if self.next_value(location, delivered, value) != following[1]:
                    raise self.build_nondeterminism_error(location, value)
                if following not in known:
                    known.add(following)
                    waiting.append(following)

    def compute_value(self, location: Location, messages: frozenset[Any], value: Any) -> Any:
        """Evaluate next_value; refuse a result that is not hashable, or not of the type of the start value."""
        result = self.next_value(location, messages, value)
        if type(result) is not type(self.start_value):
            delivered = "{" + ", ".join(map(str, sorted(messages, key=repr))) + "}"
            call = f"next_value({location}, {delivered}, {shorten_value(value)})"
            raise UsageError(f"{self.name}: {call} is {shorten_value(result)}, which is not of the type of start_value")
        self._check_hashable("value", result)
        return result

    def _check_hashable(self, role: str, value: Any) -> None:
        try:
            hash(value)
        except TypeError:
            raise UsageError(f"{self.name}: the {role} {shorten_value(value)} cannot be hashed") from None

    def build_nondeterminism_error(self, location: Location, value: Any) -> UsageError:
        return UsageError(
            f"{self.name}: next_value gives two answers at {location} for {shorten_value(value)}",
            "let it depend on its three arguments only",
        )

    def find_claim(self, name: str) -> Claim:
        known = {claim.name: claim for claim in self.claims}
        if name not in known:
            raise UsageError(f"{self.name} has no property {name}", suggest_name(name, known) if known else None)
        return known[name]

    @cached_property
    def arities(self) -> dict[str, int]:
        """The number of indexes of each predicate."""
        return {CORRECT: 1, **dict.fromkeys(self.predicates, 2)}
