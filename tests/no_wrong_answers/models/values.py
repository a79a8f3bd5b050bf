"""Plain values as an author's function reads them, written after the modelling guide: records, and sets of ages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any


class Record:
    """Values by name, as an author's function reads them."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def values(self) -> Mapping[str, Any]:
        return dict(self.__dict__)


class AgeSet:
    """A message buffer: a set of ages from 0 to Δ, where Δ stands for "Δ or older"."""

    def __init__(self, delta: int, members: Iterable[int]) -> None:
        self.delta = delta
        self.members = frozenset(members)
        if not all(0 <= age <= delta for age in self.members):
            raise ValueError(f"ages {sorted(self.members)} are not between 0 and {delta}")

    def has(self, age: int) -> bool:
        return age in self.members

    def empty(self) -> bool:
        return not self.members

    def single(self) -> bool:
        return len(self.members) <= 1

    def any(self, low: int, high: int) -> bool:
        return bool([age for age in self.members if low <= age <= high])

    def exists(self, low: int, high: int, body: Callable[[int], bool]) -> bool:
        return bool([age for age in self._between(low, high) if body(age)])

    def forall(self, low: int, high: int, body: Callable[[int], bool]) -> bool:
        return all(body(age) for age in self._between(low, high))

    def within(self, other: AgeSet) -> bool:
        return self.members <= other.members

    def send(self, when: bool) -> AgeSet:
        return AgeSet(self.delta, self.members | {0}) if when else self

    def age(self, when: bool = True) -> AgeSet:
        return AgeSet(self.delta, {min(age + 1, self.delta) for age in self.members}) if when else self

    def deliver(self, delivered: AgeSet) -> AgeSet:
        return AgeSet(self.delta, self.members - delivered.members)

    def clear(self, when: bool = True) -> AgeSet:
        return AgeSet(self.delta, ()) if when else self

    def _between(self, low: int, high: int) -> range:
        return range(max(low, 0), min(high, self.delta) + 1)


def subsets(ages: Iterable[int]) -> list[frozenset[int]]:
    members = sorted(ages)
    return [frozenset(some) for size in range(len(members) + 1) for some in combinations(members, size)]
