"""Strong Completeness with a tight bound: the round after its crash by which the target is suspected.

In the worst run a Receive of the monitor leaves the last pong in transit, one round before it is old enough; the next
one, 3Φ later, delivers it.  2Φ later the monitor asks again, and waits, at one step every Φ rounds, until a Compute
finds the timeout reached.
"""

from _processes import MonitorPc
from accuracy import asks_at_once, steps_since_ask, waits_in_threes

from fdverify import And, If, Implies, Min, Not, Number, Or, Proof, State, Truth

proof = Proof("_ping_pong.py:PING_PONG", crash=True, timeout="any")


def phi_times(s: State, steps: Number) -> Number:
    """The most rounds that 0, 1 or 2 steps of the monitor take, without a product, which is hard for solvers."""
    return If(steps == 0, 0, If(steps == 1, s.phi, 2 * s.phi))


def delivered_by(s: State) -> Number:
    """The number of rounds after the crash by which every pong has been delivered."""
    return s.delta - 2 + 3 * s.phi


def asked_by(s: State) -> Number:
    """The number of rounds after the crash by which the monitor has asked for the last time."""
    return delivered_by(s) + 2 * s.phi


def waited_by(s: State) -> Number:
    """The number of rounds from there to the first Compute at which the monitor has waited as long as its timeout.

    Its waiting time there is 2 modulo 3, so it exceeds the timeout by 0, 1 or 2.
    """
    return s.phi * s.timeout + phi_times(s, (2 - s.timeout) % 3)


@proof.bound
def suspected_by(s: State) -> Number:
    """Both; but a timeout of 1 is reached at the first Compute, and a pong that comes later raises it."""
    return If(s.timeout == 1, 5 * s.phi - 2, asked_by(s) + waited_by(s))


@proof.goal
def suspected_in_time(s: State) -> Truth:
    """By then a crashed target is suspected."""
    return Implies(s.since_crash >= suspected_by(s), s.suspected)


def since_receive(s: State) -> Number:
    """An upper bound on the number of rounds since the monitor's last Receive."""
    return s.monitor_timer + phi_times(s, (steps_since_ask(s) + 2) % 3)


proof.invariants(waits_in_threes, asks_at_once)


@proof.invariant
def no_young_pong(s: State) -> Truth:
    """Every pong in transit is older than the crash, or of age Δ."""
    return Not(s.pongs.any(0, Min(s.since_crash, s.delta - 1)))


@proof.invariant
def pong_left(s: State) -> Truth:
    """If a pong is in transit, the monitor's last Receive left it: at the latest Δ-2 rounds after the crash."""
    return Implies(Not(s.pongs.empty()), s.since_crash <= s.delta - 2 + since_receive(s))


@proof.invariant
def asks_again(s: State) -> Truth:
    """Until it asks again, the monitor's last Receive was the one that delivered a pong."""
    return Implies(Not(s.waiting), s.since_crash <= delivered_by(s) + since_receive(s))


@proof.invariant
def waits_since_ask(s: State) -> Truth:
    """The monitor waits one more at least every Φ since it asked."""
    waits = s.since_crash <= asked_by(s) + s.phi * s.waiting_time + s.monitor_timer
    return Implies(s.waiting, waits)


@proof.invariant
def trusts_no_longer(s: State) -> Truth:
    """While it trusts the target, the monitor had not waited as long as its timeout at the last Compute."""
    since_compute = (steps_since_ask(s) + 1) % 3
    return Implies(Not(s.suspected), s.waiting_time - since_compute < s.timeout)


@proof.invariant
def one_at_a_time(s: State) -> Truth:
    """There is one ping, or the target is asked, or there is one pong: only one of these, and only while it waits."""
    pinged, ponged = Not(s.pings.empty()), Not(s.pongs.empty())
    return And(
        s.pings.single(),
        s.pongs.single(),
        Not(And(pinged, s.asked)),
        Not(And(pinged, ponged)),
        Not(And(s.asked, ponged)),
        Implies(Not(s.waiting), Not(Or(pinged, s.asked, ponged))),
    )


def trusts_with_one(s: State) -> Truth:
    return And(s.timeout == 1, Not(s.suspected))


@proof.invariant
def answered_after_ask(s: State) -> Truth:
    """With timeout 1, what is in transit to the monitor at its first Receive was sent after its Ask."""
    first = And(trusts_with_one(s), s.monitor_pc == MonitorPc.Ask, Not(s.pongs.empty()))
    return Implies(first, s.since_crash <= s.monitor_timer - 2)


@proof.invariant
def trusts_until_first_compute(s: State) -> Truth:
    """With timeout 1, the monitor is answered at its first Receive, and suspects at the first Compute after an Ask."""
    asked_last = 3 * s.phi - 2 + s.monitor_timer + phi_times(s, s.waiting_time)
    answered_last = s.phi - 2 + since_receive(s)
    return Implies(
        trusts_with_one(s), And(s.waiting_time <= 1, s.since_crash <= If(s.waiting, asked_last, answered_last))
    )
