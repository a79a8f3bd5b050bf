"""A ghost variable that counts the rounds since a crash, independently of the model's own crash clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fdverify.bounds.detector_instance import require_detector
from fdverify.logic import And, If, Not, Truth
from fdverify.models.detector import Detector
from fdverify.models.model import Model
from fdverify.models.system import Choices, Integers, Phase, State, System, Update, Variable, update

ROUND_COUNTER = "hrounds"
"""The counter: -1 before the crash, 0 in its round.  If the bounds hold only from some time on, it starts then."""


def add_round_counter(system: System) -> System:
    """Extend the system with a phase that counts at the end of each round."""
    detector = require_detector(system)

    def count_round(s: State, c: Choices) -> Update:
        return update(**{ROUND_COUNTER: If(is_counted_round(detector, s), s[ROUND_COUNTER] + 1, -1)})

    counter = Variable(
        ROUND_COUNTER, Integers(), initial=lambda s: -1, range=lambda s: s[ROUND_COUNTER] >= -1, ghost=True, clock=True
    )
    phases = (*system.phases, Phase("count_rounds", count_round))
    return replace(system, variables=(*system.variables, counter), phases=phases)


def is_counted_round(detector: Detector, s: State) -> Truth:
    """Return whether a round counts: the sender has crashed, and the bounds hold."""
    return And(Not(detector.correct(s)), detector.is_stable(s))


def build_same_clock_claim(detector: Detector) -> Callable[[State], Truth]:
    """Build the claim that the model's crash clock agrees with the counter."""
    return lambda s: And(
        s[detector.crash_clock] == s[ROUND_COUNTER],
        If(is_counted_round(detector, s), s[ROUND_COUNTER] >= 0, s[ROUND_COUNTER] == -1),
    )


def add_round_counter_to_model(model: Model) -> Model:
    """Extend every system of the model with the counter."""

    def build_with_counter(**chosen: Any) -> System:
        return add_round_counter(model.build(**chosen))

    return replace(model, build=build_with_counter)
