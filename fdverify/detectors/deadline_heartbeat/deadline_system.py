"""The system, from its parts.

In a round, first what the parts do; then the monitor receives and judges, or judges first and then receives.
"""

from __future__ import annotations

from dataclasses import replace

from fdverify.detectors.deadline_heartbeat.deadline_parts import (
    DELAYS,
    FIRST,
    FIXED_DELAY,
    LAST,
    PARAMETERS,
    SAFE_TIMEOUT,
    TASKS,
    DeadlineParts,
)
from fdverify.logic import If, Not
from fdverify.models import partial_synchrony
from fdverify.models.detector import Detector
from fdverify.models.expression import parse_expression
from fdverify.models.model import Model, Option
from fdverify.models.system import (
    Choices,
    Flags,
    Integers,
    Parameter,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)


def build_deadline_heartbeat(
    *, task: str, judges: str, crash: bool, timeout: str, buffer: str | None, **values: int | None
) -> System:
    """Build the detector with these values of its parameters (``None``: arbitrary)."""
    encoding = partial_synchrony.encoding_of(buffer, values["delta"])
    parts = DeadlineParts(task, crash, encoding)
    initial = None if timeout.strip() == "any" else parse_expression(timeout, values)
    detector = _build_detector(parts)
    detection = Property("detection", parts.is_detected_in_time, "noticed within delta+timeout+interval+2*stall-2")
    return System(
        name="deadline-heartbeat",
        options={"task": task, "judges": judges, **partial_synchrony.described(crash, timeout, encoding)},
        parameters=(
            *(replace(parameter, value=values[parameter.name]) for parameter in PARAMETERS),
            Parameter("initial_timeout", 1, initial, "the timeout", small=(1, 4, 8)),
        ),
        variables=_build_variables(parts),
        phases=_build_phases(parts, judges),
        properties=(detector.strong_accuracy(), *((detection,) if crash else ())),
        assumptions=(DELAYS,),
        liveness=detector.liveness(crash),
        detector=detector,
        cast=parts.cast,
    )


def _build_variables(parts: DeadlineParts) -> tuple[Variable, ...]:
    made = (parts.sender, parts.monitor, parts.beat, parts.check, parts.channel, parts.silence)
    return (
        *(variable for part in made for variable in part.variables()),
        Variable("timeout", Integers(), lambda s: s.initial_timeout, range=lambda s: s.timeout == s.initial_timeout),
        Variable("suspected", Flags(), initial=lambda s: False),
    )


def _build_phases(parts: DeadlineParts, judges: str) -> tuple[Phase, ...]:
    def judge(s: State, c: Choices) -> Update:
        # If it has not received yet, the silence has lasted for this round, too.
        silence = parts.silence.rounds(s) + (1 if judges == FIRST else 0)
        return update(suspected=If(parts.check.runs(s), silence >= s.timeout, s.suspected))

    receiving = parts.channel.hand_over(receives=parts.monitor.runs, then=parts.silence.after)
    judging = Phase("judge", judge)
    return (
        *parts.sender.phases(),
        *parts.monitor.phases(),
        *parts.beat.phases(),
        *parts.check.phases(),
        parts.channel.carry(sends=parts.beat.runs),
        *((judging, receiving) if judges == FIRST else (receiving, judging)),
    )


def _build_detector(parts: DeadlineParts) -> Detector:
    return Detector(
        suspects=lambda s: s.suspected,
        correct=parts.sender.correct,
        in_transit=lambda s: Not(s.heartbeats.empty()),
        receive="hand_over_heartbeats",
        hears=parts.channel.hears,
        timeout="timeout",
        first_timeout="initial_timeout",
        crash_clock=parts.sender.clock,
        watcher="monitor",
        counts_rounds=True,
    )


DEADLINE_HEARTBEAT = Model(
    name="deadline-heartbeat",
    summary="a sender is suspected if nothing was heard from it for as long as a timeout",
    parameters=PARAMETERS,
    options=(
        Option("task", "when a heartbeat is due", FIXED_DELAY, choices=TASKS),
        Option("judges", "whether the monitor judges after it receives, or before", LAST, choices=(LAST, FIRST)),
        *partial_synchrony.options(SAFE_TIMEOUT, "sender"),
    ),
    default_property="strong-accuracy",
    default_liveness="eventually-strong-accuracy",
    build=build_deadline_heartbeat,
)
