"""Eventually Strong Accuracy with any initial timeout: from some time on, a correct target is not suspected.

The claims of accuracy.py about waiting steps hold while a pong may come.  ``hquiet`` counts the rounds since the last
pong, which bounds how long a wrong suspicion lasts.
"""

import accuracy
from _ping_pong import least_safe_timeout
from _processes import MonitorPc, TargetPc, correct
from accuracy import comes, steps_since_ask

from fdverify import And, EventuallyAlways, If, Implies, Max, Min, Not, Number, Proof, State, Truth

proof = Proof(
    "_ping_pong.py:PING_PONG", goal=EventuallyAlways("strong-accuracy"), by="timeout-guard", crash=True, timeout="any"
)


@proof.term
def safe_timeout(s: State) -> Number:
    """From this timeout on, a correct target is not suspected."""
    return least_safe_timeout(s)


@proof.term
def longest_quiet(s: State) -> Number:
    """While a pong may still come, one was delivered so many rounds ago at most."""
    return 8 * s.phi + 2 * s.delta - 3


proof.invariants(*(each for each in accuracy.proof.predicates() if each is not accuracy.trusted))


@proof.invariant
def suspected_after_timeout(s: State) -> Truth:
    """A suspicion lasts only while the monitor waits, and it has waited as long as its timeout."""
    return Implies(s.suspected, And(s.waiting, s.waiting_time >= s.timeout))


@proof.invariant
def suspected_at_compute(s: State) -> Truth:
    """A monitor that suspects had waited as long as its timeout at its last Compute."""
    since_compute = (steps_since_ask(s) + 1) % 3
    return Implies(s.suspected, s.waiting_time - since_compute >= s.timeout)


@proof.invariant
def grows_until_safe(s: State) -> Truth:
    """The timeout grows until it is safe, and no further."""
    return s.timeout <= Max(s.initial_timeout, safe_timeout(s))


@proof.invariant
def waits_in_quiet(s: State) -> Truth:
    """The monitor has waited at most as long as it has been quiet."""
    return s.waiting_time <= s.hquiet


def asked_by(s: State) -> Number:
    """The number of rounds after the last delivery by which the monitor has asked again."""
    return 2 * s.phi


@proof.invariant
def asks_again(s: State) -> Truth:
    """Until it asks again, the monitor's last Receive was the one that delivered a pong."""
    since = s.monitor_timer + If(s.monitor_pc == MonitorPc.Compute, s.phi, 0)
    return Implies(Not(s.waiting), s.hquiet <= since)


def since_asked(s: State) -> Number:
    """A lower bound on the number of rounds since the monitor asked; it may be negative."""
    return s.hquiet - asked_by(s)


@proof.invariant
def ping_ages_in_quiet(s: State) -> Truth:
    """A ping is as old as it has been quiet since it was due, or of age Δ."""
    return Implies(s.waiting, Not(s.pings.any(0, Min(since_asked(s), s.delta) - 1)))


@proof.invariant
def ping_left_in_quiet(s: State) -> Truth:
    """If a ping is in transit, the target's last Receive left it."""
    since = s.target_timer + If(s.target_pc == TargetPc.Receive, 0, s.phi)
    left = since_asked(s) <= s.delta - 1 + since
    return Implies(And(correct(s), s.waiting, Not(s.pings.empty())), left)


@proof.invariant
def answers_next_in_quiet(s: State) -> Truth:
    """A target that is asked answers in its next step."""
    asked = since_asked(s) <= accuracy.read_by(s) + s.target_timer
    return Implies(And(correct(s), s.waiting, s.asked), asked)


@proof.invariant
def pong_ages_in_quiet(s: State) -> Truth:
    """A pong is as old as it has been quiet since it was due, or of age Δ."""
    due = since_asked(s) - accuracy.answered_by(s)
    return Implies(s.waiting, Not(s.pongs.any(0, Min(due, s.delta) - 1)))


@proof.invariant
def delivery_overdue(s: State) -> Truth:
    """While the monitor waits and a pong may come, its last Receive was before a pong had age Δ."""
    since = s.monitor_timer + If(
        s.monitor_pc == MonitorPc.Receive, 0, If(s.monitor_pc == MonitorPc.Compute, s.phi, 2 * s.phi)
    )
    left = since_asked(s) < accuracy.answered_by(s) + s.delta + since
    return Implies(And(s.waiting, comes(s)), left)
