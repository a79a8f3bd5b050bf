"""Strong Completeness, for every initial timeout: every crash leads to a permanent suspicion.

The last heartbeat was sent in the round before the crash.  A Listen may leave it in transit at age Δ-1, and the next
one, 2Φ later, hears it.  Then the monitor loses patience, at one step every Φ rounds, and a Judge follows.
"""

from _heartbeats import Step, crashed, suspected
from _late_heartbeat import waited
from eventual_accuracy_doubling import proof as trust
from eventual_accuracy_doubling import safe_timeout

from fdverify import Always, And, If, Implies, LeadsTo, Min, Not, Number, Proof, State, Truth

proof = Proof(
    "_doubling.py:DOUBLING", goal=LeadsTo(crashed, Always(suspected)), by="crash-clock", crash=True, timeout="any"
)
proof.term(safe_timeout)
proof.invariants(*trust.predicates())


def heard_by(s: State) -> Number:
    """The number of rounds after the crash by which every heartbeat has been heard."""
    return s.delta + 2 * s.phi - 2


@proof.term
def detection(s: State) -> Number:
    """So many rounds after the crash the sender is suspected."""
    return heard_by(s) + s.phi + s.phi * s.timeout


@proof.invariant
def no_young_heartbeat(s: State) -> Truth:
    """Every heartbeat in transit is older than the crash, or of age Δ."""
    return Not(s.transit.any(0, Min(s.since_crash, s.delta - 1)))


@proof.invariant
def heartbeat_left(s: State) -> Truth:
    """If a heartbeat is in transit, the last Listen left it: that was Δ-2 rounds after the crash at the latest."""
    since = s.monitor_idle + If(s.step == Step.Listen, 0, s.phi)
    return Implies(Not(s.transit.empty()), s.since_crash <= s.delta - 2 + since)


@proof.invariant
def waits_since_heard(s: State) -> Truth:
    """Until it has no patience left, the monitor waits for one step more at least every Φ."""
    return Implies(s.left > 0, s.since_crash <= heard_by(s) + s.phi * waited(s) + s.monitor_idle)


@proof.invariant
def judges_at_once(s: State) -> Truth:
    """Without patience it trusts the sender only after a Listen that lost the last of it."""
    only = And(s.step == Step.Listen, s.since_crash <= heard_by(s) + s.phi * s.timeout + s.monitor_idle)
    return Implies(And(s.left == 0, Not(s.suspected)), only)
