"""The detector as a system: its parameters and variables, and how it is built."""

from __future__ import annotations

from dataclasses import replace

from fdverify.errors import UsageError
from fdverify.logic import And, If, Implies, Not, Number, Truth
from fdverify.models.buffer import ENCODINGS
from fdverify.models.cast import Cast, Channel, Process
from fdverify.models.chandra_toueg.asynchrony import SUSPECTED_AGAIN
from fdverify.models.chandra_toueg.late_message import late_message
from fdverify.models.chandra_toueg.phases import (
    ASYNCHRONY,
    COMPUTATIONS,
    PARTIAL_SYNCHRONY,
    SYNCHRONY,
    VARIANTS,
    Computation,
    Phases,
    ReceiverPc,
    SenderPc,
    phases_of,
    sender_correct,
    suspected,
)
from fdverify.models.chandra_toueg.properties import FAIRNESS, liveness, properties
from fdverify.models.detector import Detector
from fdverify.models.expression import parse_expression
from fdverify.models.model import Model, Option
from fdverify.models.system import (
    Ages,
    Flags,
    Integers,
    Labels,
    Parameter,
    State,
    System,
    Variable,
)

DELTA = Parameter("delta", least=0, value=None, meaning="bound on message delay")
PHI = Parameter("phi", least=1, value=None, meaning="bound on relative speed", small=(1, 3, 2))
SAFE_TIMEOUT = "6*phi+delta"


def chandra_toueg(
    delta: int | None,
    phi: int | None,
    *,
    variant: str = "tla",
    crash: bool = False,
    timeout: str = SAFE_TIMEOUT,
    buffer: str | None = None,
    computation: str = PARTIAL_SYNCHRONY,
) -> System:
    """The detector with these bounds (``None``: arbitrary) and this initial timeout (an expression, or ``any``)."""
    if computation == SYNCHRONY and phi not in (None, 1):
        raise UsageError(f"synchrony is phi = 1, got {phi}", "leave --phi out, or use --computation partial-synchrony")
    found = computed(
        COMPUTATIONS[computation],
        delta,
        1 if computation == SYNCHRONY else phi,
        variant=variant,
        crash=crash,
        timeout=timeout,
        buffer=buffer,
    )
    if computation == PARTIAL_SYNCHRONY:
        return found
    growing = (SUSPECTED_AGAIN,) if computation == ASYNCHRONY else ()
    return replace(found, options={**found.options, "computation": computation}, growing=growing, worst=())


def computed(
    computation: Computation,
    delta: int | None,
    phi: int | None,
    *,
    variant: str,
    crash: bool,
    timeout: str,
    buffer: str | None,
) -> System:
    """The detector under a model of computation."""
    phases = Phases(VARIANTS[variant], computation)
    encoding = buffer or ("predicate" if delta is None else "bitvector")
    initial_timeout = None if timeout.strip() == "any" else parse_expression(timeout, {"delta", "phi"})
    return System(
        name="chandra-toueg",
        options={"variant": variant, "crash": str(crash).lower(), "timeout": timeout.strip(), "buffer": encoding},
        parameters=(
            replace(DELTA, value=delta),
            replace(PHI, value=phi),
            Parameter("initial_timeout", 1, initial_timeout, "the receiver's first timeout", small=(1, 8, 24, 2)),
        ),
        variables=_variables(phases, crash, encoding),
        phases=phases_of(phases, crash),
        properties=properties(crash),
        liveness=liveness(crash),
        fairness=FAIRNESS,
        detector=_detector(phases),
        worst=(late_message(phases.variant),),
        cast=_cast(crash),
    )


def _variables(phases: Phases, crash: bool, encoding: str) -> tuple[Variable, ...]:
    variant, timely = phases.variant, phases.computation.timely
    saturates = variant.waiting_time_saturates

    def idles(s: State, timer: Number, bound: Number) -> Truth:
        return And(timer >= 0, If(timely(s), timer < bound, timer <= bound))

    variables = (
        Variable("suspected", Flags(), initial=lambda s: False),
        Variable(
            "waiting_time",
            Integers(),
            initial=lambda s: 0,
            range=lambda s: And(s.waiting_time >= 0, Implies(saturates, s.waiting_time <= s.timeout)),
            # The timeout changes only when waiting_time becomes 0, so how far it is exceeded never matters.
            cap=None if saturates else lambda s: s.timeout,
        ),
        Variable(
            "timeout",
            Integers(),
            initial=lambda s: s.initial_timeout,
            range=lambda s: s.timeout >= s.initial_timeout,
        ),
        Variable("sender_pc", Labels(SenderPc), initial=lambda s: SenderPc.Send),
        Variable("receiver_pc", Labels(ReceiverPc), initial=lambda s: variant.receiver_starts),
        Variable("buffer", Ages(encoding, bound="delta"), initial=lambda s: frozenset()),
        Variable(
            "sender_timer",
            Integers(),
            initial=lambda s: 0,
            range=lambda s: idles(s, s.sender_timer, 3 * s.phi),
        ),
        Variable(
            "receiver_timer",
            Integers(),
            initial=lambda s: 0,
            range=lambda s: idles(s, s.receiver_timer, s.phi),
        ),
    )
    if not crash:
        return variables
    hlfsc = Variable(
        "hlfsc",
        Integers(),
        initial=lambda s: -1,
        range=lambda s: If(sender_correct(s), s.hlfsc == -1, s.hlfsc >= 0),
        ghost=True,
        clock=True,
    )
    return (*variables, hlfsc)


def _detector(phases: Phases) -> Detector:
    return Detector(
        suspects=suspected,
        correct=sender_correct,
        in_transit=lambda s: Not(s.buffer.empty()),
        receive="receive",
        hears=phases.hears,
        timeout="timeout",
        first_timeout="initial_timeout",
        crash_clock="hlfsc",
    )


def _cast(crash: bool) -> Cast:
    crashing = ("crash", "hlfsc") if crash else ()
    heard = ("suspected", "waiting_time", "timeout", "receiver_timer", "delivered")
    return Cast(
        processes=(
            Process("sender", pc="sender_pc", active="sender_active", owns=("sender_timer", *crashing)),
            Process("receiver", pc="receiver_pc", active="receiver_active", owns=heard),
        ),
        channels=(Channel("buffer", sender="sender", receiver="receiver", delivered="delivered"),),
    )


CHANDRA_TOUEG = Model(
    name="chandra-toueg",
    summary="the Chandra-Toueg failure detector, one sender and one receiver, under partial synchrony",
    parameters=(DELTA, PHI),
    options=(
        Option("variant", "which published specification", "tla", choices=tuple(VARIANTS)),
        Option("crash", "whether the sender may crash", False),
        Option("timeout", "the initial timeout, or any", SAFE_TIMEOUT, metavar="EXPR|any"),
        Option(
            "buffer", "encoding of the buffer; by default bitvector for a fixed delta, else predicate", None, ENCODINGS
        ),
        Option(
            "computation",
            "when the bounds hold: from the start, with phi = 1, or never",
            PARTIAL_SYNCHRONY,
            tuple(COMPUTATIONS),
        ),
    ),
    default_property="strong-accuracy",
    default_liveness="eventually-strong-accuracy",
    build=chandra_toueg,
)
