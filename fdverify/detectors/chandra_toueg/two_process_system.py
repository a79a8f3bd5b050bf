"""The Chandra-Toueg detector as a system of one sender and one receiver: variables, parameters and options."""

from __future__ import annotations

from dataclasses import replace

from fdverify.detectors.chandra_toueg.asynchronous_loop import SUSPECTED_AGAIN
from fdverify.detectors.chandra_toueg.detector_properties import FAIRNESS, list_properties
from fdverify.detectors.chandra_toueg.late_message import build_late_message
from fdverify.detectors.chandra_toueg.round_phases import (
    ASYNCHRONY,
    COMPUTATIONS,
    CRASH_CLOCK,
    PARTIAL_SYNCHRONY,
    RECEIVER,
    SENDER,
    SYNCHRONY,
    VARIANTS,
    Computation,
    DetectorPhases,
    SenderPc,
    list_phases,
    sender_correct,
    suspected,
)
from fdverify.errors import UsageError
from fdverify.logic import And, Implies, Not
from fdverify.models import partial_synchrony
from fdverify.models.detector import Detector
from fdverify.models.model import Model, Option
from fdverify.models.partial_synchrony import DELTA, PHI
from fdverify.models.participants import Cast, Channel, Role
from fdverify.models.system import (
    Ages,
    Flags,
    Integers,
    System,
    Variable,
)

SAFE_TIMEOUT = "6*phi+delta"


def build_chandra_toueg(
    delta: int | None,
    phi: int | None,
    *,
    variant: str = "tla",
    crash: bool = False,
    timeout: str = SAFE_TIMEOUT,
    buffer: str | None = None,
    computation: str = PARTIAL_SYNCHRONY,
) -> System:
    """Build the detector with these bounds (``None``: arbitrary) and initial timeout (an expression, or ``any``)."""
    if computation == SYNCHRONY and phi not in (None, 1):
        raise UsageError(
            f"synchrony requires phi = 1, got {phi}", "leave --phi out, or use --computation partial-synchrony"
        )
    system = computed(
        COMPUTATIONS[computation],
        delta,
        1 if computation == SYNCHRONY else phi,
        variant=variant,
        crash=crash,
        timeout=timeout,
        buffer=buffer,
    )
    if computation == PARTIAL_SYNCHRONY:
        return system
    growing = (SUSPECTED_AGAIN,) if computation == ASYNCHRONY else ()
    return replace(system, options={**system.options, "computation": computation}, growing=growing, worst=())


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
    """Build the detector under a model of computation."""
    phases = DetectorPhases(VARIANTS[variant], computation)
    encoding = partial_synchrony.encoding_of(buffer, delta)
    detector = _build_detector(phases)
    return System(
        name="chandra-toueg",
        options={"variant": variant, **partial_synchrony.described(crash, timeout, encoding)},
        parameters=partial_synchrony.fixed(delta, phi, timeout, "the receiver's"),
        variables=_build_variables(phases, crash, encoding),
        phases=list_phases(phases, crash),
        properties=list_properties(detector, crash),
        liveness=detector.liveness(crash),
        fairness=FAIRNESS,
        detector=detector,
        worst=(build_late_message(phases.variant),),
        cast=_build_cast(crash),
    )


def _build_variables(phases: DetectorPhases, crash: bool, encoding: str) -> tuple[Variable, ...]:
    variant, timely = phases.variant, phases.computation.timely
    saturates = variant.waiting_time_saturates
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
        SENDER.pc(SenderPc.Send),
        RECEIVER.pc(variant.receiver_starts),
        Variable("buffer", Ages(encoding, bound="delta"), initial=lambda s: frozenset()),
        SENDER.timer(timely),
        RECEIVER.timer(timely),
    )
    return (*variables, SENDER.crash_clock(CRASH_CLOCK)) if crash else variables


def _build_detector(phases: DetectorPhases) -> Detector:
    return Detector(
        suspects=suspected,
        correct=sender_correct,
        in_transit=lambda s: Not(s.buffer.empty()),
        receive="receive",
        hears=phases.hears,
        timeout="timeout",
        first_timeout="initial_timeout",
        crash_clock=CRASH_CLOCK,
    )


def _build_cast(crash: bool) -> Cast:
    crashing = ("crash", "hlfsc") if crash else ()
    heard = ("suspected", "waiting_time", "timeout", "receiver_timer", "delivered")
    return Cast(
        processes=(
            Role("sender", pc="sender_pc", active="sender_active", owns=("sender_timer", *crashing)),
            Role("receiver", pc="receiver_pc", active="receiver_active", owns=heard),
        ),
        channels=(Channel("buffer", sender="sender", receiver="receiver", delivered="delivered"),),
    )


CHANDRA_TOUEG = Model(
    name="chandra-toueg",
    summary="the Chandra-Toueg failure detector, one sender and one receiver, under partial synchrony",
    parameters=(DELTA, PHI),
    options=(
        Option("variant", "which published specification", "tla", choices=tuple(VARIANTS)),
        *partial_synchrony.options(SAFE_TIMEOUT, "sender"),
        Option(
            "computation",
            "when the bounds hold: from the start, with phi = 1, or never",
            PARTIAL_SYNCHRONY,
            tuple(COMPUTATIONS),
        ),
    ),
    default_property="strong-accuracy",
    default_liveness="eventually-strong-accuracy",
    build=build_chandra_toueg,
)
