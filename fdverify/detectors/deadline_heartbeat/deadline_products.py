"""Products that suspect when nothing was heard for as long as a timeout."""

from __future__ import annotations

from fdverify.detectors.deadline_heartbeat.deadline_parts import FIXED_DELAY, FIXED_RATE, LAST, DeadlineParts
from fdverify.detectors.deadline_heartbeat.late_heartbeat import build_late_heartbeat
from fdverify.detectors.product import Product, SafetyRule, Setting, set_defaults
from fdverify.durations import SECOND
from fdverify.models.system import Property

_SETTINGS = (
    Setting("delay", "delta", "longest delay of a heartbeat", "200ms"),
    Setting("least-delay", "soonest", "shortest delay of a heartbeat", "10ms", default=0),
    Setting("pause", "pause", "longest pause of the sender", "500ms"),
    Setting("stall", "stall", "longest pause of the monitor", "500ms"),
    Setting("losses", "losses", "how many heartbeats in a row may be lost", "1", is_time=False),
    Setting("period", "period", "from one heartbeat to the next", "1s", least=1),
    Setting("interval", "interval", "from one check of the monitor to the next", "1s", least=1),
    Setting("timeout", "initial_timeout", "how long a silence is too long", "5s", least=1),
)
_RESTS_ON = (
    "a heartbeat that is not lost takes at most the delay",
    "the monitor receives what has arrived before it judges",
    "both clocks run at the same rate",
)
_DUE = {FIXED_DELAY: "a heartbeat is due after the last one", FIXED_RATE: "heartbeats are due on a grid"}
_FORMULAS = {
    FIXED_DELAY: "(losses + 1)*(period + pause) + delay - least-delay",
    FIXED_RATE: "(losses + 1)*period + pause + delay - least-delay",
}
_LIMITS = (
    Property("delays", lambda s: s.soonest <= s.delta, "the least delay is not above the delay"),
    Property("short-delay", lambda s: s.soonest < s.period, "the least delay is shorter than the period"),
)
_SHORT_PAUSES = Property("short-pauses", lambda s: s.pause < s.period, "pauses are shorter than the period")


def _build_product(
    name: str,
    whose: str,
    task: str,
    defaults: dict[str, tuple[int, str]] | None = None,
    is_strict: bool = False,
) -> Product:
    parts = DeadlineParts(task)
    rule = SafetyRule(
        "timeout",
        parts.silence.longest,
        _FORMULAS[task],
        is_tight=lambda s: True,
        build_plan=lambda: build_late_heartbeat(parts),
        plan_for=lambda s: {"first": parts.silence.longest(s) + s.soonest},
    )
    return Product(
        name=name,
        summary=f"{whose}; {_DUE[task]}",
        model="deadline-heartbeat",
        options={"task": task, "judges": LAST},
        settings=set_defaults(_SETTINGS, defaults or {}),
        rules=(rule,),
        limits=(*_LIMITS, *((_SHORT_PAUSES,) if task == FIXED_RATE else ())),
        compute_detection=parts.latest_detection,
        detection_formula="delay + timeout + interval + 2*stall",
        chosen={"first": 1},
        proofs=(
            f"deadline_heartbeat/deadline_accuracy_{task.replace('-', '_')}",
            "deadline_heartbeat/deadline_detection",
        ),
        rests_on=_RESTS_ON,
        page="docs/reference/deadline-heartbeat.md",
        is_strict=is_strict,
    )


PRODUCTS = (
    _build_product("heartbeat-fixed-delay", "heartbeats with a deadline", FIXED_DELAY),
    _build_product("heartbeat-fixed-rate", "heartbeats with a deadline", FIXED_RATE),
    _build_product(
        "spark-executor",
        "the heartbeats of an executor to Spark's driver",
        FIXED_RATE,
        {
            "period": (10 * SECOND, "spark.executor.heartbeatInterval"),
            "interval": (60 * SECOND, "spark.network.timeoutInterval"),
            "timeout": (120 * SECOND, "spark.network.timeout"),
        },
        is_strict=True,
    ),
)
