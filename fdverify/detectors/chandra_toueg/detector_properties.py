"""The safety properties and the fairness conditions of the detector."""

from __future__ import annotations

from fdverify.logic import Implies, Not, Truth
from fdverify.models.detector import Detector
from fdverify.models.system import Property, State


def is_suspected_in_time(s: State) -> Truth:
    return Implies(s.hlfsc >= 6 * s.phi + s.delta + s.phi * s.timeout, s.suspected)


def list_properties(detector: Detector, with_crash: bool) -> tuple[Property, ...]:
    properties = (
        detector.strong_accuracy(),
        Property(
            "eventually-strong-accuracy",
            lambda s: Implies(s.timeout >= 6 * s.phi + s.delta, detector.trusts(s)),
            "from timeout >= 6*phi+delta on, a sender that has not crashed is not suspected",
        ),
    )
    if not with_crash:
        return properties
    completeness = Property(
        "strong-completeness",
        is_suspected_in_time,
        "once the sender has been crashed for 6*phi+delta+phi*timeout rounds, it is suspected",
    )
    return (*properties, completeness)


FAIRNESS = (
    Property("sender-steps", lambda s: s.sender_timer == 0, "the sender takes a step, or has crashed"),
    Property("receiver-steps", lambda s: s.receiver_timer == 0, "the receiver takes a step"),
    Property("no-overdue-message", lambda s: Not(s.buffer.has(s.delta)), "no message of age delta is in transit"),
)
