"""The detector of examples/doubling, written once more from its words, with a list of heartbeats and what each is due.

An oracle: it imports nothing from fdverify.  A heartbeat has the age that it has, however old; that all of at least Δ
are the same is for the model to claim.  Slow and plain on purpose.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple


class State(NamedTuple):
    crashed: bool
    suspected: bool
    timeout: int
    left: int
    sender_idle: int
    last_step: str
    monitor_idle: int
    heartbeats: tuple[int, ...]


@dataclass(frozen=True)
class Detector:
    delta: int
    phi: int
    first_timeout: int
    may_crash: bool

    def start(self) -> State:
        return State(False, False, self.first_timeout, self.first_timeout, 0, "Judge", 0, ())

    def rounds(self, state: State) -> Iterator[State]:
        """Every state that may follow after one round."""
        for s in self.after_crash(state):
            for sends, t in self.after_sender(s):
                in_transit = tuple(age + 1 for age in t.heartbeats) + ((0,) if sends else ())
                yield from self.after_monitor(t._replace(heartbeats=in_transit))

    def after_crash(self, s: State) -> Iterator[State]:
        yield s
        if self.may_crash and not s.crashed:
            yield s._replace(crashed=True)

    def after_sender(self, s: State) -> Iterator[tuple[bool, State]]:
        if s.crashed:
            yield False, s._replace(sender_idle=0)
            return
        yield True, s._replace(sender_idle=0)
        if s.sender_idle < self.phi - 1:
            yield False, s._replace(sender_idle=s.sender_idle + 1)

    def after_monitor(self, s: State) -> Iterator[State]:
        if s.monitor_idle < self.phi - 1:
            yield s._replace(monitor_idle=s.monitor_idle + 1)
        active = s._replace(monitor_idle=0)
        if s.last_step == "Judge":
            yield from self.listened(active._replace(last_step="Listen"))
        else:
            yield self.judged(active._replace(last_step="Judge"))

    def listened(self, s: State) -> Iterator[State]:
        overdue = [age for age in s.heartbeats if age >= self.delta]
        others = [age for age in s.heartbeats if age < self.delta]
        for number in range(len(others) + 1):
            for early in combinations(others, number):
                yield self.heard(s, [*overdue, *early])

    def heard(self, s: State, ages: list[int]) -> State:
        if not ages:
            return s._replace(left=max(0, s.left - 1))
        timeout = s.timeout * 2 if s.suspected else s.timeout
        kept = tuple(age for age in s.heartbeats if age not in ages)
        return s._replace(suspected=False, timeout=timeout, left=timeout, heartbeats=kept)

    def judged(self, s: State) -> State:
        left = max(0, s.left - 1)
        return s._replace(left=left, suspected=s.suspected or left == 0)

    def reachable(self) -> dict[State, set[State]]:
        """Every state that a run comes to, with those that follow it."""
        found: dict[State, set[State]] = {}
        new = {self.start()}
        while new:
            found |= {state: set(self.rounds(state)) for state in new}
            new = {after for state in new for after in found[state]} - found.keys()
        return found
