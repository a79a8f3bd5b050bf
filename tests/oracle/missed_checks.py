"""Missed checks, written once more from the words of its page, with lists of messages and their true ages.

An oracle: it imports nothing from fdverify.  It visits all states, and reads off what no run exceeds.  Slow and plain
on purpose.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations


@dataclass(frozen=True)
class Setting:
    fixed_rate: bool
    delta: int
    period: int
    losses: int
    pause: int
    tolerance: int
    timeout: int


@dataclass(frozen=True)
class Moment:
    """The end of a round."""

    crashed_for: int = -1
    paused: int = 0
    asked_for: int = -1
    """The rounds since the check under way began, or -1."""
    to_check: int = 1
    pings: tuple[int, ...] = ()
    pongs: tuple[int, ...] = ()
    pings_lost: int = 0
    pongs_lost: int = 0
    misses: int = 0


Sent = tuple[tuple[int, ...], int]


def follow(setting: Setting, now: Moment, may_crash: bool) -> Iterator[Moment]:
    """Every moment that may follow after one round."""
    for crashed_for in [now.crashed_for + 1] if now.crashed_for >= 0 else [-1, 0] if may_crash else [-1]:
        up = crashed_for < 0
        for paused in [0, now.paused + 1] if up and now.paused < setting.pause else [0]:
            yield from ask(setting, replace(now, crashed_for=crashed_for, paused=paused), up and paused == 0)


def ask(setting: Setting, now: Moment, target_runs: bool) -> Iterator[Moment]:
    """The checker begins a check if one is due, and the ping is carried to the target, which answers it."""
    under_way = now.asked_for >= 0
    begins = not under_way and now.to_check <= 1
    now = replace(
        now,
        asked_for=now.asked_for + 1 if under_way else 0 if begins else -1,
        to_check=0 if under_way or begins else now.to_check - 1,
    )
    for pings, pings_lost in carry(setting, now.pings, now.pings_lost, begins):
        for arrived, left in deliveries(setting, pings) if target_runs else [(False, pings)]:
            for pongs, pongs_lost in carry(setting, now.pongs, now.pongs_lost, arrived):
                sent = replace(now, pings=left, pings_lost=pings_lost, pongs_lost=pongs_lost)
                for answered, still in deliveries(setting, pongs):
                    yield judge(setting, replace(sent, pongs=still), answered)


def carry(setting: Setting, ages: tuple[int, ...], lost: int, sends: bool) -> Iterator[Sent]:
    older = tuple(age + 1 for age in ages)
    if not sends:
        yield older, lost
        return
    yield (*older, 0), 0
    if lost < setting.losses:
        yield older, lost + 1


def deliveries(setting: Setting, ages: tuple[int, ...]) -> Iterator[tuple[bool, tuple[int, ...]]]:
    for chosen in chain.from_iterable(combinations(ages, number) for number in range(len(ages) + 1)):
        left = tuple(age for age in ages if age not in chosen)
        if all(age < setting.delta for age in left):
            yield bool(chosen), left


def judge(setting: Setting, now: Moment, answered: bool) -> Moment:
    """The checker ends the check if it was answered, or gives it up and forgets its messages."""
    if answered:
        return replace(now, asked_for=-1, to_check=due(setting, now), misses=0)
    if now.asked_for >= setting.timeout:
        misses = min(now.misses + 1, setting.tolerance)
        return replace(now, asked_for=-1, to_check=due(setting, now), misses=misses, pings=(), pongs=())
    return now


def due(setting: Setting, now: Moment) -> int:
    return max(1, setting.period - now.asked_for) if setting.fixed_rate else setting.period


def visit(setting: Setting, may_crash: bool) -> Iterator[Moment]:
    """Every moment of every run; after a suspicion that follows a crash nothing else happens."""
    seen, new = {Moment()}, [Moment()]
    while new:
        now = new.pop()
        yield now
        for after in follow(setting, now, may_crash):
            settled = after.crashed_for >= 0 and after.misses == setting.tolerance and not after.pongs
            if not settled and after not in seen:
                seen.add(after)
                new.append(after)


def is_safe(setting: Setting) -> bool:
    """Tell whether a correct target is never suspected."""
    return all(now.misses < setting.tolerance for now in visit(setting, may_crash=False))


def find_latest_detection(setting: Setting) -> int:
    """The round after a crash from which on the target is suspected in every run; the crash is in round 0."""
    trusting = (now for now in visit(setting, may_crash=True) if now.misses < setting.tolerance)
    return max(now.crashed_for + 1 for now in trusting)
