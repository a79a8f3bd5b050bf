"""The parts of models, written once more from the words of their page, with absolute times and lists of messages.

An oracle: it imports nothing from fdverify.  Slow and plain on purpose.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product


def list_runs(kind: str, period: int, first: int, running: Sequence[bool]) -> list[int]:
    """List the rounds in which a task runs; ``running[r]`` says whether its process runs in round r, from 1 on."""
    runs: list[int] = []
    rounds = range(1, len(running))
    if kind == "fixed-delay":
        due = first
        for r in rounds:
            if running[r] and r >= due:
                runs.append(r)
                due = r + period
        return runs
    ticks = set(range(first, len(running), period))
    if kind == "skipping":
        return [r for r in rounds if r in ticks and running[r]]
    for r in rounds:
        last = max((run for run in runs if run < r), default=0)
        if running[r] and any(last < tick <= r for tick in ticks):
            runs.append(r)
    return runs


def list_ticks(steady: int, rounds: int) -> set[tuple[int, ...]]:
    """List the advances of a clock, round by round: in any d rounds by d at least and by d + ⌈d / steady⌉ at most."""
    advances = product((1, 2), repeat=rounds)
    return {ticks for ticks in advances if all(_is_allowed(steady, part) for part in _parts(ticks))}


def _is_allowed(steady: int, ticks: Sequence[int]) -> bool:
    return len(ticks) <= sum(ticks) <= len(ticks) + -(-len(ticks) // steady)


def _parts(ticks: Sequence[int]) -> list[Sequence[int]]:
    return [ticks[first:last] for first in range(len(ticks)) for last in range(first + 1, len(ticks) + 1)]


@dataclass(frozen=True)
class Carrier:
    """A channel whose messages remember when they were sent."""

    least: int
    most: int
    losses: int
    copies: bool

    def list_outcomes(self, sends: Sequence[bool], listens: Sequence[bool]) -> set[tuple[bool, ...]]:
        """List what a receiver may hear: for each round, from 1 on, whether a message is delivered."""
        found: set[tuple[bool, ...]] = set()
        self._follow(sends, listens, 1, (), 0, (), found)
        return found

    def _follow(
        self,
        sends: Sequence[bool],
        listens: Sequence[bool],
        now: int,
        sent: tuple[int, ...],
        lost: int,
        heard: tuple[bool, ...],
        found: set[tuple[bool, ...]],
    ) -> None:
        if now == len(sends):
            found.add(heard)
            return
        ways = [(sent, lost)]
        if sends[now]:
            ways = [((*sent, now), 0)]
            if lost < self.losses:
                ways.append((sent, lost + 1))
        for under_way, lost_now in ways:
            for hears, left in self._receive(under_way, now) if listens[now] else [(False, under_way)]:
                self._follow(sends, listens, now + 1, left, lost_now, (*heard, hears), found)

    def _receive(self, under_way: tuple[int, ...], now: int) -> Iterator[tuple[bool, tuple[int, ...]]]:
        ripe = [sent for sent in under_way if now - sent >= self.least]
        due = {sent for sent in under_way if now - sent >= self.most}
        for chosen in chain.from_iterable(combinations(ripe, number) for number in range(len(ripe) + 1)):
            if due <= set(chosen):
                yield bool(chosen), tuple(sent for sent in under_way if sent not in chosen)
                if self.copies and chosen:
                    for kept in set(chosen) - due:  # it is heard, and yet stays
                        yield True, tuple(sent for sent in under_way if sent not in chosen or sent == kept)
                    yield True, tuple(sent for sent in under_way if sent not in chosen or sent not in due)
