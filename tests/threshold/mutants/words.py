"""What formulas are made of, at random: claims about one configuration."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.threshold.mutants.automata import OPERATORS, Automaton
from tests.threshold.mutants.comparisons import some_guard
from tests.threshold.mutants.formulas import Formula, both, comparing, either, guarding, negated
from tests.threshold.mutants.shorthand import compared

EMPTY = (("== 0", "!= 0"), ("== 0", "!= 0"), ("<= 0", "> 0"), ("< 1", ">= 1"))
"""How to say that a sum of locations is empty, and that it is not."""

START_LIMITS = ("== 0", "== 0", "== 0", "<= T", ">= 1", ">= N - T", "== N - F", "< T + 1", "!= 0")


class Words:
    def __init__(self, source: random.Random, automaton: Automaton) -> None:
        self.source = source
        self.automaton = automaton

    def one_in(self, number: int) -> bool:
        return self.source.randrange(number) == 0

    def some(self, names: Sequence[str], most: int = 2) -> list[str]:
        return self.source.sample(names, self.source.randint(1, min(most, len(names))))

    def places(self, most: int = 2) -> list[str]:
        return self.some(self.automaton.locations, most)

    def places_at_first(self) -> list[str]:
        """Locations of which at least one may be inhabited at first."""
        first = self.source.choice(self.automaton.start)
        others = [name for name in self.automaton.locations if name != first]
        return [first, *self.source.sample(others, self.source.randrange(3))]

    def empty(self, names: Sequence[str]) -> Formula:
        """That all these locations are empty."""
        if self.one_in(2):
            return both(*(Formula(f"{name} == 0", f"{name} != 0") for name in names))
        so, not_so = self.source.choice(EMPTY)
        return Formula(f"{' + '.join(names)} {so}", f"{' + '.join(names)} {not_so}")

    def inhabited(self, names: Sequence[str]) -> Formula:
        """That some of these locations is not empty."""
        return negated(self.empty(names))

    def gathered(self, names: Sequence[str]) -> Formula:
        """That all processes are at these locations, which are not all there are."""
        return self.empty([name for name in self.automaton.locations if name not in names])

    def guard(self) -> Formula:
        """A claim about shared variables."""
        if self.one_in(6):
            join = self.source.choice((both, either))
            return join(*(comparing(some_guard(self.source, self.automaton)) for _ in range(2)))
        return comparing(some_guard(self.source, self.automaton))

    def count(self) -> Formula:
        """A claim about how many processes are somewhere."""
        left = " + ".join(self.places())
        right = self.source.choice(("1", "2", "T", "T + 1", "N - F", *self.automaton.locations))
        if self.one_in(4):
            left += f" + {self.source.choice(self.automaton.shared)}"
        return comparing(compared(f"{left} {self.source.choice(OPERATORS)} {right}"))

    def occupation(self) -> Formula:
        """That some locations are empty, or not."""
        return self.empty(self.places()) if self.one_in(2) else self.inhabited(self.places(3))

    def lasting(self) -> Formula:
        """A claim of the kinds that may be said of all times of a run that breaks a specification."""
        match self.source.randrange(6):
            case 0:
                return self.empty(self.places())
            case 1:
                return self.inhabited(self.places(3))
            case 2:
                return self.inhabited(self.places_at_first())
            case 3:
                return self.guard()
            case _:
                return either(self.guard(), self.occupation())

    def goal(self) -> Formula:
        """What may be missed at all times: often that some locations are left, or entered."""
        return negated(self.lasting()) if self.one_in(2) else self.occupation()

    def part(self) -> Formula:
        match self.source.randrange(8):
            case 0:
                return self.guard()
            case 1:
                return either(self.guard(), self.occupation())
            case 2:
                return self.count()
            case 3:
                return self.gathered(self.places())
            case _:
                return self.occupation()

    def claim(self) -> Formula:
        """Any claim about one configuration."""
        parts = [self.part() for _ in range(self.source.choice((1, 1, 1, 2, 2, 3)))]
        return self.source.choice((both, both, either))(*parts)

    def start(self) -> Formula:
        """A claim about initial configurations, such that many satisfy it."""
        limits = [f"{name} {self.source.choice(START_LIMITS)}" for name in self.some(self.automaton.start)]
        return both(*(comparing(compared(limit)) for limit in limits))

    def safe(self) -> Formula:
        """Mostly what is so at first, as no process has come to a location that it says is empty."""
        late = [name for name in self.automaton.locations if name not in self.automaton.start]
        if not late or self.one_in(3):
            return self.claim()
        parts = [self.empty([name]) for name in self.some(late)]
        if self.one_in(2):
            parts[0] = either(self.guard(), parts[0])
        return self.source.choice((both, either))(*parts)

    def fair(self) -> Formula:
        """Mostly that no process waits for ever that a rule lets move, though perhaps not for every rule."""
        parts = [self.lasting()] if self.one_in(5) else []
        for rule in self.automaton.rules:
            if rule.source != rule.target and not self.one_in(6):
                empty = self.empty([rule.source])
                parts.append(either(negated(guarding(rule.guard)), empty) if rule.guard.parts else empty)
        return both(*parts) if parts else self.lasting()
