"""The deadline heartbeat, written once more from the words of its page, with a list of messages and their true ages.

An oracle: it imports nothing from fdverify.  It visits all states, and reads off what no run exceeds.  Slow and plain
on purpose.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations


@dataclass(frozen=True)
class Setting:
    fixed_rate: bool
    judges_first: bool
    delta: int
    soonest: int
    period: int
    losses: int
    pause: int
    stall: int
    interval: int
    first: int


@dataclass(frozen=True)
class Moment:
    """The end of a round."""

    crashed_for: int = -1
    sender_paused: int = 0
    monitor_paused: int = 0
    to_tick: int = 1
    """Rounds to the next tick of the grid, or to the round from which the next heartbeat may be sent."""
    owed: bool = False
    to_check: int = 1
    ages: tuple[int, ...] = ()
    lost: int = 0
    silence: int = 0
    judged: int = -1
    """The silence at the check in this round, or -1."""
    suspected: bool = False


def start(setting: Setting) -> Moment:
    return Moment(to_check=setting.first)


def follow(setting: Setting, now: Moment, timeout: int | None) -> Iterator[Moment]:
    """Every moment that may follow after one round; the sender may crash if there is a timeout."""
    for crashed_for in [now.crashed_for + 1] if now.crashed_for >= 0 else [-1] if timeout is None else [-1, 0]:
        up = crashed_for < 0
        for sender_paused in pauses(now.sender_paused, setting.pause) if up else [0]:
            for monitor_paused in pauses(now.monitor_paused, setting.stall):
                moved = replace(
                    now, crashed_for=crashed_for, sender_paused=sender_paused, monitor_paused=monitor_paused
                )
                for sent in send(setting, moved, up and sender_paused == 0, up):
                    yield from receive(setting, sent, timeout)


def pauses(lasted: int, longest: int) -> list[int]:
    return [0, lasted + 1] if lasted < longest else [0]


def send(setting: Setting, now: Moment, runs: bool, up: bool) -> Iterator[Moment]:
    ages = tuple(age + 1 for age in now.ages)
    if not up:
        yield replace(now, ages=ages, to_tick=1, owed=False)
        return
    to_tick = now.to_tick - 1
    due = now.owed or to_tick <= 0
    if setting.fixed_rate and to_tick == 0:
        to_tick = setting.period
    if not (due and runs):
        yield replace(now, ages=ages, to_tick=max(to_tick, 0), owed=due)
        return
    if not setting.fixed_rate:
        to_tick = setting.period
    sent = replace(now, to_tick=to_tick, owed=False)
    yield replace(sent, ages=(*ages, 0), lost=0)
    if now.lost < setting.losses:
        yield replace(sent, ages=ages, lost=now.lost + 1)


def receive(setting: Setting, now: Moment, timeout: int | None) -> Iterator[Moment]:
    runs, to_check = now.monitor_paused == 0, max(now.to_check - 1, 0)
    checks = runs and to_check == 0
    now = replace(now, to_check=setting.interval if checks else to_check)
    for heard, left in deliveries(setting, now.ages) if runs else [(False, now.ages)]:
        silence = 0 if heard else now.silence + 1
        seen = now.silence + 1 if setting.judges_first else silence
        suspected = (timeout is not None and seen >= timeout) if checks else now.suspected
        yield replace(now, ages=left, silence=silence, judged=seen if checks else -1, suspected=suspected)


def deliveries(setting: Setting, ages: tuple[int, ...]) -> Iterator[tuple[bool, tuple[int, ...]]]:
    ripe = [age for age in ages if age >= setting.soonest]
    for chosen in chain.from_iterable(combinations(ripe, number) for number in range(len(ripe) + 1)):
        left = tuple(age for age in ages if age not in chosen)
        if all(age < setting.delta for age in left):
            yield bool(chosen), left


def find_least_safe_timeout(setting: Setting) -> int:
    """The least timeout that no check finds exceeded while the sender is up."""
    seen, new, longest = {start(setting)}, [start(setting)], 0
    while new:
        now = new.pop()
        longest = max(longest, now.judged)
        for after in follow(setting, now, None):
            if after not in seen:
                seen.add(after)
                new.append(after)
    return max(1, longest + 1)


def find_latest_detection(setting: Setting, timeout: int) -> int:
    """The round after a crash from which on the sender is suspected in every run; the crash is in round 0."""
    seen, new, latest = {start(setting)}, [start(setting)], 0
    while new:
        now = new.pop()
        if now.crashed_for >= 0 and not now.suspected:
            latest = max(latest, now.crashed_for + 1)
        for after in follow(setting, now, timeout):
            # Before a crash a longer silence makes no difference, and after it nothing changes once all is quiet.
            kept = after if after.crashed_for >= 0 else replace(after, silence=min(after.silence, timeout))
            settled = after.crashed_for >= 0 and after.suspected and not after.ages and after.silence >= timeout
            if not settled and kept not in seen:
                seen.add(kept)
                new.append(kept)
    return latest
