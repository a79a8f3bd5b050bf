"""The detector with a ghost clock that counts for how many rounds in a row the sender has been suspected."""

from dataclasses import replace
from typing import Any

from fdverify import CHANDRA_TOUEG, Choices, If, Integers, Phase, State, System, Update, Variable, update


def count_suspicion(s: State, c: Choices) -> Update:
    return update(hsuspected=If(s.suspected, s.hsuspected + 1, 0))


def build(**chosen: Any) -> System:
    system = CHANDRA_TOUEG.build(**chosen)
    clock = Variable(
        "hsuspected",
        Integers(),
        initial=lambda s: 0,
        range=lambda s: If(s.suspected, s.hsuspected >= 1, s.hsuspected == 0),
        ghost=True,
        clock=True,
    )
    phases = (*system.phases, Phase("count_suspicion", count_suspicion))
    return replace(system, variables=(*system.variables, clock), phases=phases)


SUSPICION_CLOCK = replace(CHANDRA_TOUEG, build=build)
