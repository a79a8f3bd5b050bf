"""A heartbeat detector that counts down, and doubles its timeout after each wrong suspicion.

Two processes run in rounds.  In each round each of them is active or idle; it is idle for less than Φ rounds in a row.

- The sender sends a heartbeat in each round in which it is active.  It may crash at the start of a round; then it never
  sends again.
- A heartbeat can be heard in the round in which it is sent, or in any later one.  It is heard at the latest when the
  monitor first listens Δ or more rounds after it was sent.
- The monitor, when active, takes one step: Listen, Judge, Listen, and so on.  The first is Listen.
- ``left`` is the number of steps until the monitor loses patience.  It starts at the timeout, and each step lowers it
  by one, down to 0; but a Listen that hears something resets it to the timeout.
- Judge suspects the sender if ``left`` is then 0.
- A Listen that hears something ends a suspicion, which seems to have been wrong, and first doubles the timeout.

The phases of a round are in this order: crash, the sender's turn, the monitor's turn, heartbeats in transit grow older
by one, the sender sends, the monitor listens, the monitor judges.
"""

from _heartbeats import Step, correct, hears, phases_of, suspected
from _late_heartbeat import LATE_HEARTBEAT

from fdverify import (
    Ages,
    And,
    Cast,
    Channel,
    Detector,
    Flags,
    If,
    Implies,
    Integers,
    Labels,
    Model,
    Not,
    Property,
    Raise,
    Role,
    State,
    System,
    Truth,
    Variable,
    partial_synchrony,
)
from fdverify.models.partial_synchrony import DELTA, PHI

SAFE_TIMEOUT = "phi+delta+1"


def strong_completeness(s: State) -> Truth:
    return Implies(s.since_crash >= s.delta + 3 * s.phi + s.phi * s.timeout - 2, s.suspected)


DETECTOR = Detector(
    suspects=suspected,
    correct=correct,
    in_transit=lambda s: Not(s.transit.empty()),
    receive="listen",
    hears=hears,
    timeout="timeout",
    first_timeout="initial_timeout",
    crash_clock="since_crash",
    learns=Raise(times=2),
    watcher="monitor",
)


def doubling(
    delta: int | None, phi: int | None, *, crash: bool = False, timeout: str = SAFE_TIMEOUT, buffer: str | None = None
) -> System:
    """Build the detector with these bounds (``None``: arbitrary) and initial timeout (an expression, or ``any``)."""
    encoding = partial_synchrony.encoding_of(buffer, delta)
    return System(
        name="doubling",
        options=partial_synchrony.described(crash, timeout, encoding),
        parameters=partial_synchrony.fixed(delta, phi, timeout, "the monitor's"),
        variables=_variables(crash, encoding),
        phases=phases_of(crash),
        properties=_properties(crash),
        liveness=DETECTOR.liveness(crash),
        fairness=(
            Property("sender-steps", lambda s: s.sender_idle == 0, "the sender takes a step, or has crashed"),
            Property("monitor-steps", lambda s: s.monitor_idle == 0, "the monitor takes a step"),
            Property("no-overdue-heartbeat", lambda s: Not(s.transit.has(s.delta)), "no heartbeat has age delta"),
        ),
        detector=DETECTOR,
        worst=(LATE_HEARTBEAT,),
        cast=_cast(crash),
    )


def _cast(with_crash: bool) -> Cast:
    crashing = ("crashed", "crash", "since_crash") if with_crash else ("crashed",)
    return Cast(
        processes=(
            Role("sender", active="sender_active", owns=("sender_idle", *crashing)),
            Role("monitor", "step", "monitor_active", owns=("suspected", "timeout", "left", "monitor_idle", "heard")),
        ),
        channels=(Channel("transit", sender="sender", receiver="monitor", delivered="heard"),),
    )


def _variables(with_crash: bool, encoding: str) -> tuple[Variable, ...]:
    def idle(name: str) -> Variable:
        return Variable(name, Integers(), initial=lambda s: 0, range=lambda s: And(s[name] >= 0, s[name] < s.phi))

    variables = (
        Variable("crashed", Flags(), initial=lambda s: False),
        Variable("suspected", Flags(), initial=lambda s: False),
        Variable(
            "timeout",
            Integers(),
            initial=lambda s: s.initial_timeout,
            range=lambda s: s.timeout >= s.initial_timeout,
        ),
        Variable(
            "left",
            Integers(),
            initial=lambda s: s.initial_timeout,
            range=lambda s: And(s.left >= 0, s.left <= s.timeout),
        ),
        idle("sender_idle"),
        Variable("step", Labels(Step), initial=lambda s: Step.Judge),
        idle("monitor_idle"),
        Variable("transit", Ages(encoding, bound="delta"), initial=lambda s: frozenset()),
    )
    since_crash = Variable(
        "since_crash",
        Integers(),
        initial=lambda s: -1,
        range=lambda s: If(s.crashed, s.since_crash >= 0, s.since_crash == -1),
        ghost=True,
        clock=True,
    )
    return (*variables, since_crash) if with_crash else variables


def _properties(with_crash: bool) -> tuple[Property, ...]:
    accuracy = DETECTOR.strong_accuracy()
    completeness = Property(
        "strong-completeness",
        strong_completeness,
        "once the sender has been crashed for delta+3*phi+phi*timeout-2 rounds, it is suspected",
    )
    return (accuracy, completeness) if with_crash else (accuracy,)


DOUBLING = Model(
    name="doubling",
    summary="a heartbeat detector that doubles its timeout whenever it was wrong",
    parameters=(DELTA, PHI),
    options=partial_synchrony.options(SAFE_TIMEOUT, "sender"),
    default_property="strong-accuracy",
    default_liveness="eventually-strong-accuracy",
    build=doubling,
)
