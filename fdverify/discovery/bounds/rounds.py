"""A ghost variable that counts the rounds since a crash, independently of the model's own crash clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fdverify.discovery.bounds.instance import detector_of
from fdverify.logic import And, If, Not, Truth
from fdverify.models.detector import Detector
from fdverify.models.model import Model
from fdverify.models.system import Choices, Integers, Phase, State, System, Update, Variable, update

ROUNDS = "hrounds"
"""The counter: -1 before the crash, 0 in its round.  If the bounds hold only from some time on, it starts then."""


def with_rounds(system: System) -> System:
    """Extend the system with a phase that counts at the end of each round."""
    detector = detector_of(system)

    def count(s: State, c: Choices) -> Update:
        return update(**{ROUNDS: If(crashed(detector, s), s[ROUNDS] + 1, -1)})

    counter = Variable(
        ROUNDS, Integers(), initial=lambda s: -1, range=lambda s: s[ROUNDS] >= -1, ghost=True, clock=True
    )
    phases = (*system.phases, Phase("count_rounds", count))
    return replace(system, variables=(*system.variables, counter), phases=phases)


def crashed(detector: Detector, s: State) -> Truth:
    """Return whether a round counts: the sender has crashed, and the bounds hold."""
    return And(Not(detector.correct(s)), detector.stable(s))


def same_clock(detector: Detector) -> Callable[[State], Truth]:
    """Build the claim that the model's crash clock agrees with the counter."""
    return lambda s: And(
        s[detector.crash_clock] == s[ROUNDS], If(crashed(detector, s), s[ROUNDS] >= 0, s[ROUNDS] == -1)
    )


def counting_rounds(model: Model) -> Model:
    """Extend every system of the model with the counter."""

    def build(**chosen: Any) -> System:
        return with_rounds(model.build(**chosen))

    return replace(model, build=build)
