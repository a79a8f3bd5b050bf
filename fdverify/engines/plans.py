"""Runs that a plan settles: what it says in a state, and one round of it by the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, Truth, shortened
from fdverify.models.interpret import Made, observe, run_phase
from fdverify.models.system import Flag, State, System
from fdverify.symbolic.progress import planned


def plan_in(system: System, plan: Callable[[State], Mapping[str, Any]], state: State) -> Mapping[str, Any]:
    """What is planned, and nothing left open."""
    chosen = plan(state)
    if not isinstance(chosen, Mapping):
        raise UsageError(f"a plan of {system.name} is {shortened(chosen)}, not what to choose by name")
    missing = [choice.name for phase in system.phases for choice in phase.choices if choice.name not in chosen]
    if missing:
        raise UsageError(f"a plan of {system.name} does not say what to choose for {missing[0]}")
    return chosen


def interpreted_round(system: System, plan: Callable[[State], Mapping[str, Any]], state: State) -> tuple[Made, State]:
    """The choices of the round that is planned, as the interpreter makes them, and the state after it."""
    chosen = plan_in(system, plan, state)
    made: dict[str, Any] = {}
    for phase in system.phases:
        for choice in phase.choices:
            value = planned(choice, state, chosen[choice.name])
            made[choice.name] = value if isinstance(choice, Flag) else value.ages()
        after = run_phase(system, phase, state, made)
        if after is None:
            raise InternalError(f"the replay refuses a plan of {system.name} in phase {phase.name}")
        state = after
    return made, state


def well_formed(system: System, state: State) -> Truth:
    """Whether every value is one of its sort: nothing is taken from declared ranges, which are for proofs to prove."""
    return And(*(replace(variable, range=None).in_range(state) for variable in system.variables))


def in_words(system: System, state: State) -> str:
    seen = observe(system, state).items()
    return ", ".join(f"{name} {sorted(value) if isinstance(value, frozenset) else value}" for name, value in seen)
