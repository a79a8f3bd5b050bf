"""Strong Accuracy with the smallest safe initial timeout, Φ+Δ+1: a correct sender is never suspected.

A heartbeat is sent within Φ rounds after one is heard, and has age Δ after Δ more rounds.  So the monitor has taken
fewer than Φ+Δ steps when it last listened in vain, and takes one more to judge.
"""

from _heartbeats import Step, correct
from _late_heartbeat import waited

from fdverify import And, Implies, Min, Not, Number, Proof, State, Truth

proof = Proof("_doubling.py:DOUBLING", goal="strong-accuracy", timeout="any")


@proof.bound
def least_timeout(s: State) -> Number:
    """Φ+Δ+1."""
    return s.phi + s.delta + 1


@proof.assumption
def safe_from_the_start(s: State) -> Truth:
    """The initial timeout is at least Φ+Δ+1."""
    return s.initial_timeout >= least_timeout(s)


@proof.invariant
def correct_sender(s: State) -> Truth:
    """The sender does not crash."""
    return correct(s)


@proof.invariant
def silent_sender(s: State) -> Truth:
    """While nothing is in transit, the sender has been idle as long as the monitor has waited."""
    return Implies(s.transit.empty(), s.sender_idle >= waited(s))


@proof.invariant
def heartbeat_grows_old(s: State) -> Truth:
    """After Φ steps of waiting, a heartbeat is in transit that is as old as the wait beyond, or of age Δ."""
    beyond = waited(s) - s.phi
    return Implies(beyond >= 0, s.transit.any(Min(beyond, s.delta), s.delta))


@proof.invariant
def waits_no_longer(s: State) -> Truth:
    """After a Listen the monitor has waited less than Φ+Δ: no heartbeat had age Δ."""
    return Implies(s.step == Step.Listen, waited(s) < s.phi + s.delta)


@proof.invariant
def trusted(s: State) -> Truth:
    """The monitor trusts the sender, so the timeout never changes."""
    return And(Not(s.suspected), s.timeout == s.initial_timeout)
