"""What is claimed of the detector, of states and of runs, and what is fair."""

from __future__ import annotations

from fdverify.logic import And, Implies, Not, Or, Truth
from fdverify.models.chandra_toueg.phases import sender_correct
from fdverify.models.system import (
    Property,
    State,
)


def strong_accuracy(s: State) -> Truth:
    return Not(And(s.suspected, sender_correct(s)))


def eventually_strong_accuracy(s: State) -> Truth:
    return Implies(s.timeout >= 6 * s.phi + s.delta, strong_accuracy(s))


def strong_completeness(s: State) -> Truth:
    return Implies(s.hlfsc >= 6 * s.phi + s.delta + s.phi * s.timeout, s.suspected)


def properties(with_crash: bool) -> tuple[Property, ...]:
    properties = (
        Property("strong-accuracy", strong_accuracy, "a sender that has not crashed is not suspected"),
        Property(
            "eventually-strong-accuracy",
            eventually_strong_accuracy,
            "from timeout >= 6*phi+delta on, a sender that has not crashed is not suspected",
        ),
    )
    if not with_crash:
        return properties
    completeness = Property(
        "strong-completeness",
        strong_completeness,
        "once the sender has been crashed for 6*phi+delta+phi*timeout rounds, it is suspected",
    )
    return (*properties, completeness)


def liveness(with_crash: bool) -> tuple[Property, ...]:
    accuracy = Property(
        "eventually-strong-accuracy",
        strong_accuracy,
        "from some time on, a sender that has not crashed is not suspected",
    )
    completeness = Property(
        "strong-completeness",
        lambda s: Or(sender_correct(s), s.suspected),
        "from some time on, a crashed sender is suspected, and for good",
    )
    return (accuracy, completeness) if with_crash else (accuracy,)


FAIRNESS = (
    Property("sender-steps", lambda s: s.sender_timer == 0, "the sender takes a step, or has crashed"),
    Property("receiver-steps", lambda s: s.receiver_timer == 0, "the receiver takes a step"),
    Property("no-overdue-message", lambda s: Not(s.buffer.has(s.delta)), "no message of age delta is in transit"),
)
