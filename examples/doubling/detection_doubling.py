"""Strong Completeness with a tight bound: the round after its crash by which the sender is suspected.

The worst run is that of completeness_doubling.py.  At a Judge the monitor has taken an odd number of steps since it
heard something, or an even number if it never did; so with an even timeout it takes one step more than the timeout.
"""

from _heartbeats import Step
from _late_heartbeat import waited
from completeness_doubling import heard_by, heartbeat_left, no_young_heartbeat

from fdverify import And, If, Implies, Not, Number, Or, Proof, State, Truth

proof = Proof("_doubling.py:DOUBLING", crash=True, timeout="any")


@proof.bound
def suspected_by(s: State) -> Number:
    """Δ-2+3Φ+Φ·timeout, less Φ if the timeout is odd; but one of 1 is doubled after the first Judge, which suspects."""
    patience = s.phi * s.timeout - If(s.timeout % 2 == 1, s.phi, 0)
    return If(s.timeout == 1, 2 * s.phi - 1, heard_by(s) + s.phi + patience)


@proof.goal
def suspected_in_time(s: State) -> Truth:
    """By then a crashed sender is suspected."""
    return Implies(s.since_crash >= suspected_by(s), s.suspected)


proof.invariants(no_young_heartbeat, heartbeat_left)


@proof.invariant
def judges_at_once(s: State) -> Truth:
    """Without patience the monitor suspects the sender, or was at a Listen that lost the last of it."""
    return If(s.suspected, s.left == 0, Or(s.left > 0, s.step == Step.Listen))


@proof.invariant
def waits_since_heard(s: State) -> Truth:
    """While it trusts the sender, the monitor takes a step at least every Φ: since it heard, or since the start."""
    heard = (waited(s) - If(s.step == Step.Judge, 1, 0)) % 2 == 0
    since = s.phi * waited(s) + s.monitor_idle + If(heard, heard_by(s), -1)
    return Implies(Not(s.suspected), s.since_crash <= since)


@proof.invariant
def trusts_until_first_judge(s: State) -> Truth:
    """With timeout 1 the monitor trusts the sender until its first Judge, and then not until it hears something."""
    first = s.since_crash < s.monitor_idle + If(s.step == Step.Listen, s.phi, 0)
    return Implies(And(s.timeout == 1, Not(s.suspected)), first)
