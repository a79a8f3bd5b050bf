"""Eventually Strong Accuracy, for every initial timeout: in every run, from some time on, a correct sender is trusted.

The clock ``hquiet`` counts the rounds since something was heard.  The monitor takes at most one step a round, so it has
waited for at most that many steps.
"""

from _heartbeats import Step, correct
from _late_heartbeat import waited

from fdverify import And, EventuallyAlways, If, Implies, Max, Min, Not, Number, Or, Proof, State, Truth

proof = Proof(
    "_doubling.py:DOUBLING", goal=EventuallyAlways("strong-accuracy"), by="timeout-guard", crash=True, timeout="any"
)


@proof.term
def safe_timeout(s: State) -> Number:
    """From this timeout on, a correct sender is not suspected."""
    return s.phi + s.delta + 1


@proof.term
def longest_quiet(s: State) -> Number:
    """While something may still come, something was heard so many rounds ago at most."""
    return 3 * s.phi + s.delta - 2


def something_comes(s: State) -> Truth:
    return Or(correct(s), Not(s.transit.empty()))


@proof.invariant
def suspected_after_timeout(s: State) -> Truth:
    """A suspicion lasts only while the monitor has no patience left."""
    return Implies(s.suspected, s.left == 0)


@proof.invariant
def waits_in_quiet(s: State) -> Truth:
    """The monitor has waited for at most as many steps as it has been quiet."""
    return waited(s) <= s.hquiet


@proof.invariant
def silent_sender(s: State) -> Truth:
    """While nothing is in transit, a correct sender has been idle as long as it has been quiet."""
    return Implies(And(s.transit.empty(), correct(s)), s.sender_idle >= s.hquiet)


@proof.invariant
def heartbeat_grows_old(s: State) -> Truth:
    """After Φ of quiet, a heartbeat as old as the quiet beyond, or of age Δ, is in transit, or nothing will come."""
    beyond = s.hquiet - s.phi
    return Implies(And(beyond >= 0, something_comes(s)), s.transit.any(Min(beyond, s.delta), s.delta))


@proof.invariant
def hearing_overdue(s: State) -> Truth:
    """After Φ+Δ of quiet, while something may come, the monitor's last Listen was before that."""
    overdue = s.hquiet - s.phi - s.delta
    idle = And(
        Implies(s.step == Step.Listen, s.monitor_idle > overdue),
        Implies(s.step == Step.Judge, s.monitor_idle > overdue - s.phi),
    )
    return Implies(And(overdue >= 0, something_comes(s)), idle)


@proof.invariant
def waits_no_longer(s: State) -> Truth:
    """While something may come, the monitor has waited less than Φ+Δ after a Listen, and one more after a Judge."""
    most = s.phi + s.delta - If(s.step == Step.Listen, 1, 0)
    return Implies(something_comes(s), waited(s) <= most)


@proof.invariant
def grows_until_safe(s: State) -> Truth:
    """The timeout is doubled until it is safe, and no further."""
    return s.timeout <= Max(s.initial_timeout, 2 * (s.phi + s.delta))
