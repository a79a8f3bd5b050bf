"""Strong Completeness as a liveness property: every crash leads to a permanent suspicion, for every initial timeout.

This is the whole argument around the formula that strong_completeness_any_timeout.py proves; the conjuncts about the
crash come from there.  eventual_trust.py shows how far the timeout grows.
"""

import strong_completeness_any_timeout as reduced
from eventual_trust import proof as trust

from fdverify import Always, And, Implies, LeadsTo, Not, Number, Proof, State, Truth
from fdverify.detectors.chandra_toueg import crashed, suspected

proof = Proof(
    "chandra-toueg",
    goal=LeadsTo(crashed, Always(suspected)),
    by="crash-clock",
    variant="ivy",
    crash=True,
    timeout="any",
)


@proof.term
def safe_timeout(s: State) -> Number:
    """From this timeout on, a correct sender is not suspected."""
    return 6 * s.phi + s.delta


@proof.term
def detection(s: State) -> Number:
    """So many rounds after the crash the sender is suspected."""
    return reduced.waited_by(s) + 3 * s.phi


proof.invariants(*trust.predicates())


@proof.invariant
def crashed_sender_is_idle(s: State) -> Truth:
    """The timer of a crashed sender is stopped."""
    return Implies(crashed(s), s.sender_timer == 0)


@proof.invariant
def no_young_message(s: State) -> Truth:
    """(64) After a crash no message is younger than the crash."""
    return Implies(And(s.hlfsc >= 0, s.hlfsc < s.delta), Not(s.buffer.any(0, s.hlfsc - 1)))


# (53), (65)–(75)
proof.invariants(
    reduced.suspected_in_time,
    reduced.only_old_messages,
    reduced.all_delivered,
    reduced.delivery_overdue_2_phi,
    reduced.delivery_overdue_1_phi,
    reduced.waits_once_delivered,
    reduced.waited_for_timeout,
    reduced.suspicion_overdue,
)


@proof.invariant
def delivery_overdue_by_crash(s: State) -> Truth:
    """(69) A message is in transit Δ after the crash: the last Receive was before that."""
    return reduced.delivery_overdue(s)
