"""The system, from its parts.

In a round the target crashes or pauses, the checker may begin a check, messages are carried and handed over, and then
the checker ends the check if it was answered, or gives it up after the timeout.  An answer to a check that was given up
is ignored, so giving up throws away what is in transit.
"""

from __future__ import annotations

from dataclasses import replace

from fdverify.detectors.missed_checks.check_parts import (
    FIXED_DELAY,
    FIXED_RATE,
    PARAMETERS,
    SAFE_TIMEOUT,
    TASKS,
    CheckParts,
    CheckStep,
)
from fdverify.logic import And, If, Iff, Min, Not, Or
from fdverify.models import partial_synchrony
from fdverify.models.detector import Detector
from fdverify.models.expression import parse_expression
from fdverify.models.model import Model, Option
from fdverify.models.system import (
    Choices,
    Flags,
    Integers,
    Labels,
    Parameter,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)

_DETECTION = {
    FIXED_DELAY: "noticed within delta-1+tolerance*(period+timeout)",
    FIXED_RATE: "noticed within max(delta,period-1)+(tolerance-1)*max(period,timeout+1)+timeout",
}


def build_missed_checks(*, task: str, crash: bool, timeout: str, buffer: str | None, **values: int | None) -> System:
    """Build the detector with these values of its parameters (``None``: arbitrary)."""
    encoding = partial_synchrony.encoding_of(buffer, values["delta"])
    parts = CheckParts(task, crash, encoding)
    initial = None if timeout.strip() == "any" else parse_expression(timeout, values)
    detector = _build_detector(parts)
    detection = Property("detection", parts.is_detected_in_time, _DETECTION[task])
    return System(
        name="missed-checks",
        options={"task": task, **partial_synchrony.described(crash, timeout, encoding)},
        parameters=(
            *(replace(parameter, value=values[parameter.name]) for parameter in PARAMETERS),
            Parameter("initial_timeout", 1, initial, "how long an answer is waited for", small=(3, 1, 4)),
        ),
        variables=_build_variables(parts),
        phases=_build_phases(parts),
        properties=(detector.strong_accuracy(), *((detection,) if crash else ())),
        liveness=detector.liveness(crash),
        detector=detector,
        cast=parts.cast,
    )


def _build_variables(parts: CheckParts) -> tuple[Variable, ...]:
    made = (parts.target, parts.pings, parts.pongs)
    waits = CheckStep.Waits
    return (
        *(variable for part in made for variable in part.variables()),
        Variable("check_step", Labels(CheckStep), lambda s: CheckStep.Rests),
        Variable(
            "check_wait",
            Integers(),
            lambda s: 1,
            range=lambda s: And(
                s.check_wait >= 0, s.check_wait <= s.period, Iff(s.check_wait == 0, s.check_step == waits)
            ),
        ),
        Variable("elapsed", Integers(), lambda s: 0, range=lambda s: And(s.elapsed >= 0, s.elapsed <= s.timeout)),
        Variable("misses", Integers(), lambda s: 0, range=lambda s: And(s.misses >= 0, s.misses <= s.tolerance)),
        Variable("target_answers", Flags(), lambda s: False),
        Variable("answered", Flags(), lambda s: False),
        Variable("timeout", Integers(), lambda s: s.initial_timeout, range=lambda s: s.timeout == s.initial_timeout),
    )


def _build_phases(parts: CheckParts) -> tuple[Phase, ...]:
    waits, rests = CheckStep.Waits, CheckStep.Rests

    def begin_check(s: State, c: Choices) -> Update:
        is_waiting = s.check_step == waits
        begins = And(Not(is_waiting), s.check_wait <= 1)
        return update(
            check_step=If(begins, waits, s.check_step),
            check_wait=If(Or(is_waiting, begins), 0, s.check_wait - 1),
            elapsed=If(is_waiting, s.elapsed + 1, 0),
        )

    def end_check(s: State, c: Choices) -> Update:
        fails = parts.gives_up(s)
        ends = Or(s.answered, fails)
        return update(
            check_step=If(ends, rests, s.check_step),
            check_wait=If(ends, parts.wait_after_check(s), s.check_wait),
            elapsed=If(ends, 0, s.elapsed),
            misses=If(s.answered, 0, If(fails, Min(s.misses + 1, s.tolerance), s.misses)),
            answered=False,
            pings=s.pings.clear(when=fails),
            pongs=s.pongs.clear(when=fails),
        )

    return (
        *parts.target.phases(),
        Phase("begin_check", begin_check),
        parts.pings.carry(sends=parts.starts),
        parts.pings.hand_over(receives=parts.target.runs, then=lambda s, heard: {"target_answers": heard}),
        parts.pongs.carry(sends=lambda s: s.target_answers),
        parts.pongs.hand_over(receives=parts.checker.runs, then=lambda s, heard: {"answered": heard}),
        Phase("end_check", end_check),
    )


def _build_detector(parts: CheckParts) -> Detector:
    return Detector(
        suspects=parts.is_suspected,
        correct=parts.target.correct,
        in_transit=lambda s: Not(And(s.pings.empty(), s.pongs.empty())),
        receive="hand_over_pongs",
        hears=parts.pongs.hears,
        timeout="timeout",
        first_timeout="initial_timeout",
        crash_clock=parts.target.clock,
        watched="target",
        watcher="checker",
        counts_rounds=True,
    )


MISSED_CHECKS = Model(
    name="missed-checks",
    summary="a target is suspected if it has not answered so many checks in a row, each within a timeout",
    parameters=PARAMETERS,
    options=(
        Option("task", "when the next check is due: after the last one ended, or after it began", FIXED_DELAY, TASKS),
        *partial_synchrony.options(SAFE_TIMEOUT, "target"),
    ),
    default_property="strong-accuracy",
    default_liveness="eventually-strong-accuracy",
    build=build_missed_checks,
)
