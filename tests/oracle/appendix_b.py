"""The TLA+ module ``sa_iinv_pred`` of the paper's Appendix B, transcribed action by action.

An oracle: it imports nothing from fdverify and shares no idea with it beyond the text of the module.  A state is a
tuple in the order of the module's VARIABLES; an action is a generator of successor states, empty when it is disabled.
Slow and plain on purpose.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple


class State(NamedTuple):
    suspected: bool
    waitingTime: int
    timeout: int
    sPC: str
    rPC: str
    existsMsgOfAge: tuple[bool, ...]
    sTimer: int
    rTimer: int
    ePC: str


@dataclass(frozen=True)
class Module:
    Delta: int
    Phi: int
    TODefault: int

    def Init(self) -> State:
        return State(
            suspected=False,
            waitingTime=0,
            timeout=self.TODefault,
            sPC="SSnd",
            rPC="RComp",
            existsMsgOfAge=tuple(False for _ in range(self.Delta + 1)),
            sTimer=0,
            rTimer=0,
            ePC="SSched",
        )

    def SSched(self, s: State) -> Iterator[State]:
        if s.sTimer >= 2:
            yield s._replace(ePC="RSched", sTimer=0)
        if s.sTimer < 3 * self.Phi - 1:
            yield s._replace(ePC="RSched", sTimer=s.sTimer + 1)

    def RSched(self, s: State) -> Iterator[State]:
        following = {"RNoSnd": "RRcv", "RRcv": "RComp", "RComp": "RNoSnd"}
        yield s._replace(ePC="IncMsgAge", rTimer=0, rPC=following[s.rPC])
        if s.rTimer < self.Phi - 1:
            yield s._replace(ePC="IncMsgAge", rTimer=s.rTimer + 1)

    def IncMsgAge(self, s: State) -> Iterator[State]:
        if self.Delta == 0:
            yield s._replace(ePC="SSnd")
            return
        now = s.existsMsgOfAge
        for then in product((False, True), repeat=self.Delta + 1):
            if (
                then[self.Delta] == (now[self.Delta] or now[self.Delta - 1])
                and not then[0]
                and all(then[k + 1] == now[k] for k in range(self.Delta - 2 + 1))
            ):
                yield s._replace(ePC="SSnd", existsMsgOfAge=then)

    def SSnd(self, s: State) -> Iterator[State]:
        then = s.existsMsgOfAge
        if s.sTimer == 0 and s.sPC == "SSnd":
            then = (True, *then[1:])
        yield s._replace(ePC="RNoSnd", existsMsgOfAge=then)

    def RNoSnd(self, s: State) -> Iterator[State]:
        waiting = s.waitingTime
        if s.rTimer == 0 and s.rPC == "RNoSnd" and waiting < s.timeout:
            waiting = waiting + 1
        yield s._replace(ePC="RRcv", waitingTime=waiting)

    def MsgDeliver(self, s: State) -> Iterator[State]:
        now = s.existsMsgOfAge
        if not any(now):
            return
        for then in product((False, True), repeat=self.Delta + 1):
            if then[self.Delta] or then == now:
                continue
            if all(now[k] or not then[k] for k in range(self.Delta + 1)):
                delivered = s._replace(ePC="RComp", existsMsgOfAge=then, waitingTime=0)
                if s.suspected:
                    delivered = delivered._replace(suspected=False, timeout=s.timeout + 1)
                yield delivered

    def NoMsgDeliver(self, s: State) -> Iterator[State]:
        if not s.existsMsgOfAge[self.Delta]:
            waiting = s.waitingTime + 1 if s.waitingTime < s.timeout else s.waitingTime
            yield s._replace(ePC="RComp", waitingTime=waiting)

    def RRcv(self, s: State) -> Iterator[State]:
        if s.rTimer == 0 and s.rPC == "RRcv":
            yield from self.MsgDeliver(s)
            yield from self.NoMsgDeliver(s)
        else:
            yield s._replace(ePC="RComp")

    def RComp(self, s: State) -> Iterator[State]:
        if s.rTimer == 0 and s.rPC == "RComp":
            if s.waitingTime < s.timeout:
                yield s._replace(ePC="SSched", waitingTime=s.waitingTime + 1)
            else:
                yield s._replace(ePC="SSched", suspected=True)
        else:
            yield s._replace(ePC="SSched")

    def Next(self, s: State) -> Iterator[State]:
        action: Callable[[State], Iterator[State]] = getattr(self, s.ePC)
        return action(s)

    def levels(self, most: int | None = None) -> list[set[State]]:
        """The reachable states, by their distance from the initial one (at most ``most`` steps away)."""
        seen = {self.Init()}
        levels = [set(seen)]
        while levels[-1] and (most is None or len(levels) <= most):
            found = {t for s in levels[-1] for t in self.Next(s)} - seen
            seen |= found
            levels.append(found)
        return [level for level in levels if level]
