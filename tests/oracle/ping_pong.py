"""The ping-pong detector, written from the words of its model's docstring with lists of messages.

An oracle: it imports nothing from fdverify.  A message is the number of rounds since it was sent, however many; those
that are Δ or older are alike.  A round is a generator of the states that may come after it.  Slow and plain on purpose.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

Messages = tuple[int, ...]


class State(NamedTuple):
    suspected: bool
    waiting: bool
    waiting_time: int
    timeout: int
    asked: bool
    monitor: str
    target: str
    pings: Messages
    pongs: Messages
    monitor_timer: int
    target_timer: int


@dataclass(frozen=True)
class Detector:
    delta: int
    phi: int
    timeout: int
    crash: bool

    def initial(self) -> State:
        return State(False, False, 0, self.timeout, False, "Compute", "Answer", (), (), 0, 0)

    def rounds(self, s: State) -> Iterator[State]:
        """Every state that one round may lead to."""
        for crashed in self.crashes(s):
            for monitor in self.scheduled_monitor(crashed):
                for target in self.scheduled_target(monitor):
                    older = target._replace(pings=grown(target.pings), pongs=grown(target.pongs))
                    sent = self.answer(self.ask(older))
                    for read in self.read_pings(sent):
                        for heard in self.hear_pongs(read):
                            yield self.compute(heard)

    def crashes(self, s: State) -> Iterator[State]:
        yield s
        if self.crash and s.target != "Crashed":
            yield s._replace(target="Crashed", target_timer=0)

    def scheduled_monitor(self, s: State) -> Iterator[State]:
        following = {"Ask": "Receive", "Receive": "Compute", "Compute": "Ask"}
        yield s._replace(monitor=following[s.monitor], monitor_timer=0)
        if s.monitor_timer + 1 < self.phi:
            yield s._replace(monitor_timer=s.monitor_timer + 1)

    def scheduled_target(self, s: State) -> Iterator[State]:
        if s.target == "Crashed":
            yield s
            return
        yield s._replace(target={"Receive": "Answer", "Answer": "Receive"}[s.target], target_timer=0)
        if s.target_timer + 1 < self.phi:
            yield s._replace(target_timer=s.target_timer + 1)

    def ask(self, s: State) -> State:
        if not (s.monitor == "Ask" and s.monitor_timer == 0):
            return s
        if s.waiting:
            return s._replace(waiting_time=s.waiting_time + 1)
        return s._replace(waiting=True, waiting_time=0, pings=(*s.pings, 0))

    def answer(self, s: State) -> State:
        if s.target == "Answer" and s.target_timer == 0 and s.asked:
            return s._replace(asked=False, pongs=(*s.pongs, 0))
        return s

    def deliveries(self, messages: Messages) -> Iterator[tuple[Messages, Messages]]:
        """What may be delivered, and what is then left: whoever is Δ old must be delivered."""
        for size in range(len(messages) + 1):
            for chosen in combinations(range(len(messages)), size):
                left = tuple(m for at, m in enumerate(messages) if at not in chosen)
                if all(message < self.delta for message in left):
                    yield tuple(messages[at] for at in chosen), left

    def read_pings(self, s: State) -> Iterator[State]:
        if not (s.target == "Receive" and s.target_timer == 0):
            yield s
            return
        for delivered, left in self.deliveries(s.pings):
            yield s._replace(pings=left, asked=True) if delivered else s

    def hear_pongs(self, s: State) -> Iterator[State]:
        if not (s.monitor == "Receive" and s.monitor_timer == 0):
            yield s
            return
        for delivered, left in self.deliveries(s.pongs):
            if delivered:
                timeout = s.timeout + 1 if s.suspected else s.timeout
                yield s._replace(pongs=left, waiting=False, waiting_time=0, suspected=False, timeout=timeout)
            elif s.waiting:
                yield s._replace(waiting_time=s.waiting_time + 1)
            else:
                yield s

    def compute(self, s: State) -> State:
        if not (s.monitor == "Compute" and s.monitor_timer == 0 and s.waiting):
            return s
        waited = s.waiting_time + 1
        return s._replace(waiting_time=waited, suspected=s.suspected or waited >= s.timeout)

    def alike(self, s: State) -> State:
        """The state but for what makes no difference: how far Δ, or the timeout, is exceeded."""
        return s._replace(
            pings=tuple(sorted(min(age, self.delta) for age in s.pings)),
            pongs=tuple(sorted(min(age, self.delta) for age in s.pongs)),
            waiting_time=min(s.waiting_time, s.timeout),
        )

    def levels(self) -> list[set[State]]:
        """The reachable states, by their distance from the initial one."""
        seen = {self.initial()}
        levels = [set(seen)]
        while levels[-1]:
            found = {self.alike(after) for s in levels[-1] for after in self.rounds(s)} - seen
            seen |= found
            levels.append(found)
        return levels[:-1]


def grown(messages: Messages) -> Messages:
    return tuple(age + 1 for age in messages)
