"""Plans, which determine all choices of a round: evaluate a plan in a state, and interpret one round of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, Truth, shorten_value
from fdverify.models.system import State, Subset, System
from fdverify.runs.concrete_interpreter import ChoiceValues, observe_state, run_phase
from fdverify.symbolic.next_round import evaluate_planned_choice


def evaluate_plan(system: System, plan: Callable[[State], Mapping[str, Any]], state: State) -> Mapping[str, Any]:
    """Evaluate a plan in a state; refuse it if it leaves a choice open."""
    chosen = plan(state)
    if not isinstance(chosen, Mapping):
        raise UsageError(
            f"a plan of {system.name} returns {shorten_value(chosen)}, not a mapping from choices to values"
        )
    missing = [choice.name for phase in system.phases for choice in phase.choices if choice.name not in chosen]
    if missing:
        raise UsageError(f"a plan of {system.name} does not say what to choose for {missing[0]}")
    return chosen


def interpret_planned_round(
    system: System, plan: Callable[[State], Mapping[str, Any]], state: State
) -> tuple[ChoiceValues, State]:
    """Interpret the planned round; return its choices and the state after it."""
    chosen = evaluate_plan(system, plan, state)
    choices: dict[str, Any] = {}
    for phase in system.phases:
        for choice in phase.choices:
            value = evaluate_planned_choice(choice, state, chosen[choice.name])
            choices[choice.name] = value.ages() if isinstance(choice, Subset) else value
        after = run_phase(system, phase, state, choices)
        if after is None:
            raise InternalError(f"the replay refuses a plan of {system.name} in phase {phase.name}")
        state = after
    return choices, state


def is_well_formed(system: System, state: State) -> Truth:
    """Tell whether every value is of its sort; declared ranges are not used, since proofs have to prove them."""
    return And(*(replace(variable, range=None).is_in_range(state) for variable in system.variables))


def describe_state(system: System, state: State) -> str:
    values = observe_state(system, state).items()
    return ", ".join(f"{name} {sorted(value) if isinstance(value, frozenset) else value}" for name, value in values)
