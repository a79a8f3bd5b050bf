"""The detector when the bounds hold only from an unknown time on, the global stabilisation time (GST).

Before GST, idle times and message delays have no bound.  From GST on, Φ and Δ bound them.  Idle times count from GST,
and a message sent before GST is delivered at the latest at the first Receive at or after GST+Δ.  In LOSSY, messages
sent before GST may also be lost.

Before GST, ages only tell messages apart, so they may grow or not.  Age Δ stands for all messages that are as old:
before GST some of them may be delivered while others stay.

The variant is ``ivy``, whose sender may send at any time.  The sender of ``tla`` rests for two rounds before it sends;
its timer restarts at GST and would forget this rest.
"""

from dataclasses import replace

from fdverify import (
    CHANDRA_TOUEG,
    And,
    Choices,
    Detector,
    Flag,
    Flags,
    If,
    Integers,
    Min,
    Model,
    Not,
    Option,
    Or,
    Parameter,
    Phase,
    Stabilisation,
    State,
    Subset,
    System,
    Truth,
    Update,
    Variable,
    update,
)
from fdverify.detectors.chandra_toueg import Computation, computed, crashed

GST = Parameter("gst", least=0, value=None, meaning="the round from which on the bounds hold", small=(3, 0, 8))


def stable(s: State) -> Truth:
    """Whether the bounds hold in this round."""
    return s.since_gst >= 0


def sent_before_gst(s: State) -> Truth:
    """Whether all that is in transit when this round begins was sent before GST."""
    return s.since_gst <= 0


def stabilise(s: State, c: Choices) -> Update:
    """Advance the time since GST; at GST, restart the timers."""
    since = Min(s.since_gst + 1, 1)
    return update(
        since_gst=since,
        sender_timer=If(since == 0, 0, s.sender_timer),
        receiver_timer=If(since == 0, 0, s.receiver_timer),
    )


def lose(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.deliver(c.lost))


def age_messages(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.age(when=Or(Not(sent_before_gst(s)), c.ages)))


def _crash(system: System) -> System:
    """Let the crash clock count from the crash or from GST, whichever is later."""
    crash = system.phase("crash")

    def run(s: State, c: Choices) -> Update:
        made = crash.run(s, c)
        runs = And(stable(s), Or(crashed(s), c.crash))
        return replace(made, changes={**made.changes, "hlfsc": If(runs, s.hlfsc + 1, -1)})

    return system.with_phase("crash", run)


def _crash_clock_range(s: State) -> Truth:
    return If(And(crashed(s), stable(s)), s.hlfsc >= 0, s.hlfsc == -1)


def _settling(system: System) -> System:
    """Record the timeout at the first delivery from GST on, to which the bounds refer."""
    receive = system.phase("receive")
    assert system.detector is not None, "the detector is one"
    hears = system.detector.hears

    def run(s: State, c: Choices) -> Update:
        made = receive.run(s, c)
        settled = Or(s.settled, And(stable(s), hears(c)))
        first = If(s.settled, s.settled_timeout, made.changes["timeout"])
        return replace(made, changes={**made.changes, "settled": settled, "settled_timeout": first})

    return system.with_phase("receive", run)


def _detector(base: Detector, gst: int | None) -> Detector:
    """Add stabilisation to the detector, unless the bounds hold from the start."""
    if gst == 0:
        return base
    return replace(base, first_timeout="settled_timeout", stabilisation=Stabilisation("since_gst", "settled"))


def _stabilising(system: System, gst: int | None, lossy: bool) -> System:
    """Add GST to a detector whose bounds hold in stable rounds."""
    since = Variable(
        "since_gst",
        Integers(),
        initial=lambda s: -1 - s.gst,
        range=lambda s: And(s.since_gst >= -1 - s.gst, s.since_gst <= 1),
    )
    # If the bounds hold from the start, the initial timeout is settled.
    settled = Variable("settled", Flags(), initial=lambda s: s.gst == 0, ghost=True)
    first = Variable("settled_timeout", Integers(), initial=lambda s: s.initial_timeout, ghost=True)
    variables = [replace(v, range=_crash_clock_range) if v.name == "hlfsc" else v for v in system.variables]
    losing = (Phase("lose", lose, (Subset("lost", of="buffer", when=sent_before_gst),)),) if lossy else ()
    ageing = Phase("age_messages", age_messages, (Flag("ages", when=sent_before_gst),))
    phases = [ageing if phase.name == "age_messages" else phase for phase in system.phases]
    assert system.detector is not None, "the detector is one"
    return replace(
        system,
        parameters=(*system.parameters, replace(GST, value=gst)),
        variables=(*variables, since, settled, first),
        phases=(Phase("stabilise", stabilise), *losing, *phases),
        detector=_detector(system.detector, gst),
    )


def _model(name: str, summary: str, lossy: bool) -> Model:
    def build(
        delta: int | None,
        phi: int | None,
        gst: int | None,
        *,
        variant: str,
        crash: bool,
        timeout: str,
        buffer: str | None,
    ) -> System:
        late = Computation(timely=stable, late=True)
        base = computed(late, delta, phi, variant=variant, crash=crash, timeout=timeout, buffer=buffer)
        system = _settling(_stabilising(base, gst, lossy))
        return replace(_crash(system) if crash else system, name=name)

    variant = Option("variant", "which published specification", "ivy", choices=("ivy",))
    others = [option for option in CHANDRA_TOUEG.options if option.name not in ("variant", "computation")]
    return replace(
        CHANDRA_TOUEG,
        name=name,
        summary=summary,
        parameters=(*CHANDRA_TOUEG.parameters, GST),
        options=(variant, *others),
        build=build,
    )


DELAYED = _model("gst-delayed", "the bounds hold from an unknown time on; before it messages are delayed", lossy=False)
LOSSY = _model(
    "gst-lossy", "the bounds hold from an unknown time on; before it messages are delayed or lost", lossy=True
)
