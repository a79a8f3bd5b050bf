"""Products that suspect after so many missed checks."""

from __future__ import annotations

from fdverify.detectors.missed_checks.check_parts import (
    FIXED_DELAY,
    FIXED_RATE,
    CheckParts,
    compute_safe_timeout,
    compute_safe_tolerance,
)
from fdverify.detectors.missed_checks.failed_checks import build_late_answers, build_lost_messages
from fdverify.detectors.product import Product, SafetyRule, Setting, set_defaults
from fdverify.durations import SECOND

_SETTINGS = (
    Setting("delay", "delta", "longest delay of a message", "200ms"),
    Setting("pause", "pause", "longest pause of the target", "500ms"),
    Setting("losses", "losses", "how many messages in a row may be lost, each way", "1", is_time=False),
    Setting("period", "period", "from one check to the next", "1s", least=1),
    Setting("timeout", "initial_timeout", "how long an answer is waited for", "5s", least=1),
    Setting("tolerance", "tolerance", "how many missed checks in a row are too many", "4", is_time=False, least=1),
)
_RESTS_ON = (
    "a message that is not lost takes at most the delay",
    "a pause of the checker counts as a delay",
    "both clocks run at the same rate",
)
_DUE = {FIXED_DELAY: "after the last one ended", FIXED_RATE: "after the last one began"}
_DETECTION = {
    FIXED_DELAY: "delay + tolerance*(period + timeout)",
    FIXED_RATE: "max(delay, period) + (tolerance - 1)*max(period, timeout) + timeout",
}


def _build_product(name: str, whose: str, task: str, defaults: dict[str, tuple[int, str]] | None = None) -> Product:
    parts = CheckParts(task)
    return Product(
        name=name,
        summary=f"{whose}; the next check is due {_DUE[task]}",
        model="missed-checks",
        options={"task": task},
        settings=set_defaults(_SETTINGS, defaults or {}),
        rules=(
            SafetyRule(
                "timeout",
                compute_safe_timeout,
                "2*delay + pause",
                is_tight=lambda s: s.delta >= 1,
                build_plan=lambda: build_late_answers(parts),
            ),
            SafetyRule(
                "tolerance",
                compute_safe_tolerance,
                "(losses + 1)^2",
                is_tight=lambda s: True,
                build_plan=lambda: build_lost_messages(parts),
            ),
        ),
        limits=(),
        compute_detection=parts.latest_detection,
        detection_formula=_DETECTION[task],
        chosen={},
        proofs=tuple(f"missed_checks/checks_{claim}_{task.replace('-', '_')}" for claim in ("accuracy", "detection")),
        rests_on=_RESTS_ON,
        page="docs/reference/missed-checks.md",
    )


PRODUCTS = (
    _build_product("checks-fixed-delay", "checks that are missed", FIXED_DELAY),
    _build_product("checks-fixed-rate", "checks that are missed", FIXED_RATE),
    _build_product(
        "elasticsearch-follower",
        "the follower check of Elasticsearch",
        FIXED_DELAY,
        {
            "period": (SECOND, "cluster.fault_detection.follower_check.interval"),
            "timeout": (10 * SECOND, "cluster.fault_detection.follower_check.timeout"),
            "tolerance": (3, "cluster.fault_detection.follower_check.retry_count"),
        },
    ),
    _build_product(
        "ray-node",
        "the health check of a node by Ray",
        FIXED_DELAY,
        {
            "period": (3 * SECOND, "health_check_period_ms"),
            "timeout": (10 * SECOND, "health_check_timeout_ms"),
            "tolerance": (5, "health_check_failure_threshold"),
        },
    ),
    _build_product(
        "kubernetes-probe",
        "a probe of a container by Kubernetes",
        FIXED_RATE,
        {
            "period": (10 * SECOND, "periodSeconds"),
            "timeout": (SECOND, "timeoutSeconds"),
            "tolerance": (3, "failureThreshold"),
        },
    ),
)
