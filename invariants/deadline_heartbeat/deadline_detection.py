"""A crash is noticed within Δ+T+M+2G'-2 rounds, for every timeout T, check interval M and pause G' of the monitor."""

from fdverify import Implies, Not, Proof, State, Truth
from fdverify.detectors.deadline_heartbeat import FIXED_DELAY, DeadlineParts

proof = Proof("deadline-heartbeat", goal="detection", crash=True, timeout="any")
parts = DeadlineParts(FIXED_DELAY, crash=True)
proof.invariants(*parts.check.guarantees(), *parts.channel.guarantees_after_crash(parts.sender, parts.monitor))


@proof.invariant
def silent_since_crash(s: State) -> Truth:
    """The silence is as old as the crash, but for the longest delay and one pause of the monitor."""
    silent: Truth = s.silence > s.sender_since_crash - s.delta - s.stall
    return silent


@proof.invariant
def judged(s: State) -> Truth:
    """A sender that is trusted was judged when its silence was still shorter than the timeout."""
    regular = s.first <= s.interval
    return Implies(regular, Implies(Not(s.suspected), s.silence - s.timeout < parts.check.since(s)))
