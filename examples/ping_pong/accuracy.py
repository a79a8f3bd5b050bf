"""Strong Accuracy with the smallest safe initial timeout: 3Φ+2Δ, rounded down to a multiple of 3.

A ping that a Receive of the target leaves in transit is delivered at the next one, 2Φ later, and answered Φ later.  A
pong that is old enough is delivered at the monitor's next Receive, whose distance to an Ask is 1 modulo 3 steps.
"""

from _ping_pong import least_safe_timeout
from _processes import MonitorPc, TargetPc, correct

from fdverify import And, If, Implies, Min, Not, Number, Or, Proof, State, Truth

proof = Proof("_ping_pong.py:PING_PONG", goal="strong-accuracy", timeout="any")


@proof.bound
def least_timeout(s: State) -> Number:
    """3Φ+2Δ, rounded down to a multiple of 3."""
    return least_safe_timeout(s)


@proof.assumption
def safe_from_the_start(s: State) -> Truth:
    """The initial timeout is at least 3Φ+2Δ, rounded down to a multiple of 3."""
    return s.initial_timeout >= least_timeout(s)


def read_by(s: State) -> Number:
    """The number of rounds after the Ask by which the target has received the ping."""
    return 2 * s.phi + s.delta - 1


def answered_by(s: State) -> Number:
    """The number of rounds after the Ask by which the target has answered."""
    return 3 * s.phi + s.delta - 1


def comes(s: State) -> Truth:
    """A pong is in transit, or will be because the target has not crashed."""
    return Or(correct(s), Not(s.pongs.empty()))


def steps_since_ask(s: State) -> Number:
    return If(s.monitor_pc == MonitorPc.Ask, 0, If(s.monitor_pc == MonitorPc.Receive, 1, 2))


@proof.invariant
def something_under_way(s: State) -> Truth:
    """While the monitor waits, a ping is in transit, or the target is asked, or a pong is in transit."""
    return Implies(And(s.waiting, correct(s)), Or(Not(s.pings.empty()), s.asked, Not(s.pongs.empty())))


@proof.invariant
def waits_in_threes(s: State) -> Truth:
    """The monitor has waited a multiple of 3 steps at an Ask, one and two more at the steps after it."""
    return Implies(s.waiting, s.waiting_time % 3 == steps_since_ask(s))


@proof.invariant
def asks_at_once(s: State) -> Truth:
    """After an Ask the monitor waits."""
    return Implies(s.monitor_pc == MonitorPc.Ask, s.waiting)


@proof.invariant
def ping_grows_old(s: State) -> Truth:
    """A ping is as old as the monitor has waited, or of age Δ."""
    return Not(s.pings.any(0, Min(s.waiting_time, s.delta) - 1))


@proof.invariant
def ping_left(s: State) -> Truth:
    """If a ping is in transit, the target's last Receive left it: the monitor had waited less than Δ."""
    since = s.target_timer + If(s.target_pc == TargetPc.Receive, 0, s.phi)
    return Implies(And(correct(s), Not(s.pings.empty())), s.waiting_time <= s.delta - 1 + since)


@proof.invariant
def answers_next(s: State) -> Truth:
    """A target that is asked answers in its next step."""
    asked = And(s.target_pc == TargetPc.Receive, s.waiting_time <= read_by(s) + s.target_timer)
    return Implies(And(correct(s), s.asked), asked)


@proof.invariant
def pong_grows_old(s: State) -> Truth:
    """A pong is as old as the monitor has waited since it was due, or of age Δ."""
    return Not(s.pongs.any(0, Min(s.waiting_time - answered_by(s), s.delta) - 1))


@proof.invariant
def waits_no_longer(s: State) -> Truth:
    """After a Receive without a delivery the monitor has waited less than 3Φ+2Δ-1: no pong had age Δ."""
    least_since = s.waiting_time - (steps_since_ask(s) + 2) % 3
    return Implies(And(s.waiting, comes(s)), least_since < answered_by(s) + s.delta)


@proof.invariant
def computes_in_time(s: State) -> Truth:
    """Compute, the step after Receive, will find that the monitor has waited less than the least safe timeout."""
    received = And(s.waiting, comes(s), s.monitor_pc == MonitorPc.Receive)
    return Implies(received, s.waiting_time + 1 < least_timeout(s))


@proof.invariant
def trusted(s: State) -> Truth:
    """The monitor trusts a target that is correct, so the timeout never changes."""
    return And(correct(s), Not(s.suspected), s.timeout == s.initial_timeout)
