"""A ping-pong failure detector: a monitor asks, a target answers, and silence is suspicious.

The monitor sends a ping and waits for the pong that answers it; then it asks again.  While it waits, it counts its own
steps; when it has waited as long as its timeout, it suspects the target.  A pong that comes during a suspicion ends it
and raises the timeout by one.

Time passes in rounds.  In each round a process is active and takes the next step of its cycle, or is idle.  It may be
idle only if its timer, the number of rounds since it was last active, stays below Φ.  A round has these phases:

- ``crash`` (with the option): a correct target may crash for good; ``since_crash`` counts the rounds from then on.
- ``schedule_monitor``: Ask → Receive → Compute → Ask; its first step is Ask.
- ``schedule_target``: Receive → Answer → Receive; its first step is Receive.
- ``age_messages``: every ping and pong in transit is one round older; age Δ means "Δ or older".
- ``ask``, monitor in Ask: if it is not waiting, it sends a ping and starts to wait.
- ``answer``, target in Answer: if it was asked, it sends a pong and is no longer asked.
- ``receive_ping``, target in Receive: some pings in transit are delivered, or none; one of age Δ must be.  If any is,
  the target is asked.
- ``receive_pong``, monitor in Receive: some pongs in transit are delivered, or none; one of age Δ must be.  If any is,
  the monitor stops waiting; a suspicion ends, and then the timeout grows by one.
- ``compute``, monitor in Compute: if it waits and has now waited as long as its timeout, it suspects.

``waiting_time`` is 0 when the monitor asks and when a pong is delivered, and grows by one in each step of a waiting
monitor.  A message can be delivered in the round in which it is sent.  A crashed target neither receives nor sends, but
its pongs in transit still arrive.
"""

from _processes import MONITOR, TARGET, MonitorPc, TargetPc, correct, suspected
from _slow_exchange import SLOW_EXCHANGE

from fdverify import (
    Ages,
    And,
    Cast,
    Channel,
    Choices,
    Detector,
    Flags,
    If,
    Implies,
    Integers,
    Model,
    Not,
    Number,
    Or,
    Phase,
    Property,
    Role,
    State,
    Subset,
    System,
    Truth,
    Update,
    Variable,
    partial_synchrony,
    update,
)
from fdverify.models.partial_synchrony import DELTA, PHI

SAFE_TIMEOUT = "3*phi+2*delta"
CRASH_CLOCK = "since_crash"


def age_messages(s: State, c: Choices) -> Update:
    return update(pings=s.pings.age(), pongs=s.pongs.age())


def waited_once_more(s: State) -> Number:
    return If(s.waiting, s.waiting_time + 1, 0)


def ask(s: State, c: Choices) -> Update:
    active = MONITOR.runs(s, MonitorPc.Ask)
    return update(
        pings=s.pings.send(when=And(active, Not(s.waiting))),
        waiting=Or(s.waiting, active),
        waiting_time=If(active, waited_once_more(s), s.waiting_time),
    )


def answer(s: State, c: Choices) -> Update:
    active = TARGET.runs(s, TargetPc.Answer)
    return update(pongs=s.pongs.send(when=And(active, s.asked)), asked=And(s.asked, Not(active)))


def target_receives(s: State) -> Truth:
    return TARGET.runs(s, TargetPc.Receive)


def receive_ping(s: State, c: Choices) -> Update:
    return update(
        assume=Implies(And(target_receives(s), s.pings.has(s.delta)), c.delivered_pings.has(s.delta)),
        pings=s.pings.deliver(c.delivered_pings),
        asked=Or(s.asked, Not(c.delivered_pings.empty())),
    )


def monitor_receives(s: State) -> Truth:
    return MONITOR.runs(s, MonitorPc.Receive)


def hears(c: Choices) -> Truth:
    """Whether a pong is delivered."""
    return Not(c.delivered_pongs.empty())


def receive_pong(s: State, c: Choices) -> Update:
    active, heard = monitor_receives(s), hears(c)
    return update(
        assume=Implies(And(active, s.pongs.has(s.delta)), c.delivered_pongs.has(s.delta)),
        pongs=s.pongs.deliver(c.delivered_pongs),
        waiting=And(s.waiting, Not(heard)),
        waiting_time=If(heard, 0, If(active, waited_once_more(s), s.waiting_time)),
        suspected=And(s.suspected, Not(heard)),
        timeout=If(And(heard, s.suspected), s.timeout + 1, s.timeout),
    )


def compute(s: State, c: Choices) -> Update:
    active, waited = MONITOR.runs(s, MonitorPc.Compute), waited_once_more(s)
    return update(
        waiting_time=If(active, waited, s.waiting_time),
        suspected=Or(s.suspected, And(active, s.waiting, waited >= s.timeout)),
    )


def phases_of(crash: bool) -> tuple[Phase, ...]:
    return (
        *((TARGET.crash(CRASH_CLOCK),) if crash else ()),
        MONITOR.schedule(),
        TARGET.schedule(),
        Phase("age_messages", age_messages),
        Phase("ask", ask),
        Phase("answer", answer),
        Phase("receive_ping", receive_ping, (Subset("delivered_pings", of="pings", when=target_receives),)),
        Phase("receive_pong", receive_pong, (Subset("delivered_pongs", of="pongs", when=monitor_receives),)),
        Phase("compute", compute),
    )


def variables_of(crash: bool, encoding: str) -> tuple[Variable, ...]:
    return (
        Variable("suspected", Flags(), initial=lambda s: False),
        Variable("waiting", Flags(), initial=lambda s: False),
        Variable(
            "waiting_time",
            Integers(),
            initial=lambda s: 0,
            range=lambda s: And(s.waiting_time >= 0, Implies(Not(s.waiting), s.waiting_time == 0)),
            # The timeout changes only when waiting_time becomes 0, so how far it is exceeded never matters.
            cap=lambda s: s.timeout,
        ),
        Variable(
            "timeout",
            Integers(),
            initial=lambda s: s.initial_timeout,
            range=lambda s: s.timeout >= s.initial_timeout,
        ),
        Variable("asked", Flags(), initial=lambda s: False),
        MONITOR.pc(MonitorPc.Compute),
        TARGET.pc(TargetPc.Answer),
        Variable("pings", Ages(encoding, bound="delta"), initial=lambda s: frozenset()),
        Variable("pongs", Ages(encoding, bound="delta"), initial=lambda s: frozenset()),
        MONITOR.timer(),
        TARGET.timer(),
        *((TARGET.crash_clock(CRASH_CLOCK),) if crash else ()),
    )


def least_safe_timeout(s: State) -> Number:
    """3Φ+2Δ rounded down to a multiple of 3: a Compute finds that the monitor has waited 2 modulo 3."""
    return 3 * s.phi + 2 * s.delta - (2 * s.delta) % 3


def detected_by(s: State) -> Number:
    """A number of rounds after the crash by which the target is suspected; the tight bound is up to 2Φ less."""
    return 7 * s.phi + s.delta - 2 + s.phi * s.timeout


def properties_of(crash: bool) -> tuple[Property, ...]:
    accuracy = DETECTOR.strong_accuracy()
    eventually = Property(
        "eventually-strong-accuracy",
        lambda s: Implies(s.timeout >= least_safe_timeout(s), DETECTOR.trusts(s)),
        "from timeout >= 3*phi+2*delta-(2*delta)%3 on, a target that has not crashed is not suspected",
    )
    completeness = Property(
        "strong-completeness",
        lambda s: Implies(s.since_crash >= detected_by(s), s.suspected),
        "once the target has been crashed for 7*phi+delta-2+phi*timeout rounds, it is suspected",
    )
    return (accuracy, eventually, completeness) if crash else (accuracy, eventually)


FAIRNESS = (
    Property("monitor-steps", lambda s: s.monitor_timer == 0, "the monitor takes a step"),
    Property("target-steps", lambda s: s.target_timer == 0, "the target takes a step, or has crashed"),
    Property(
        "no-overdue-ping",
        lambda s: Implies(correct(s), Not(s.pings.has(s.delta))),
        "no ping of age delta is in transit to a correct target",
    ),
    Property("no-overdue-pong", lambda s: Not(s.pongs.has(s.delta)), "no pong of age delta is in transit"),
)

DETECTOR = Detector(
    suspects=suspected,
    correct=correct,
    # Pings to a crashed target stay in transit forever and have no effect.
    in_transit=lambda s: Not(s.pongs.empty()),
    receive="receive_pong",
    hears=hears,
    timeout="timeout",
    first_timeout="initial_timeout",
    crash_clock=CRASH_CLOCK,
    watched="target",
    watcher="monitor",
)


def cast_of(crash: bool) -> Cast:
    waits = ("suspected", "waiting", "waiting_time", "timeout", "monitor_timer", "delivered_pongs")
    answers = ("asked", "target_timer", "delivered_pings", *(("crash", CRASH_CLOCK) if crash else ()))
    return Cast(
        processes=(
            Role("monitor", "monitor_pc", "monitor_active", owns=waits),
            Role("target", "target_pc", "target_active", owns=answers),
        ),
        channels=(
            Channel("pings", sender="monitor", receiver="target", delivered="delivered_pings"),
            Channel("pongs", sender="target", receiver="monitor", delivered="delivered_pongs"),
        ),
    )


def ping_pong(
    delta: int | None, phi: int | None, *, crash: bool = False, timeout: str = SAFE_TIMEOUT, buffer: str | None = None
) -> System:
    """Build the detector with these bounds (``None``: arbitrary) and initial timeout (an expression, or ``any``)."""
    encoding = partial_synchrony.encoding_of(buffer, delta)
    return System(
        name="ping-pong",
        options=partial_synchrony.described(crash, timeout, encoding),
        parameters=partial_synchrony.fixed(delta, phi, timeout, "the monitor's"),
        variables=variables_of(crash, encoding),
        phases=phases_of(crash),
        properties=properties_of(crash),
        liveness=DETECTOR.liveness(crash),
        fairness=FAIRNESS,
        detector=DETECTOR,
        worst=(SLOW_EXCHANGE,),
        cast=cast_of(crash),
    )


PING_PONG = Model(
    name="ping-pong",
    summary="a monitor asks and a target answers, under partial synchrony",
    parameters=(DELTA, PHI),
    options=partial_synchrony.options(SAFE_TIMEOUT, "target"),
    default_property="strong-accuracy",
    default_liveness="eventually-strong-accuracy",
    build=ping_pong,
)
