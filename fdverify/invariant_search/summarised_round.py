"""One symbolic round of a system over integers and truth values only; buffers are replaced by their summaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import z3

from fdverify.logic import Number
from fdverify.models.system import Ages, Amount, Choice, Choices, Flag, State, Subset, System, Variable
from fdverify.runs.layout import list_variable_columns
from fdverify.symbolic.buffer_summary import SummaryBuffer, SummarySelection
from fdverify.symbolic.selection import build_fresh_parts
from fdverify.symbolic.values import Bool, Int, lift_truth


@dataclass(frozen=True)
class SummarisedRound:
    """The initial state, an arbitrary state, and the state after one round from it.

    ``parameter_facts`` constrain the parameters; ``allowed`` constrains the choices, so that the round can happen.
    """

    system: System
    initial: State
    before: State
    after: State
    parameter_facts: tuple[Any, ...]
    allowed: tuple[Any, ...]
    choices: Choices

    def list_buffer_constraints(self, state: State) -> list[Any]:
        """List the constraints that make the summary of every buffer well-formed."""
        buffers = [state[v.name] for v in self.system.variables if isinstance(v.sort, Ages)]
        return [lift_truth(buffer.is_in_range()) for buffer in buffers]


def build_summarised_round(system: System) -> SummarisedRound:
    arbitrary = {name: Int(z3.Int(name)) for name in system.list_arbitrary()}
    parameters = system.compute_parameters(arbitrary)
    parameter_facts = [lift_truth(arbitrary[p.name] >= p.least) for p in system.parameters if p.value is None]
    parameter_facts += [lift_truth(assumption.holds(State(parameters))) for assumption in system.assumptions]
    before = build_any_state(system, parameters)
    state, allowed, all_choices = before, list[Any](), dict[str, Any]()
    for phase in system.phases:
        choices = {choice.name: _build_choice(choice, state) for choice in phase.choices}
        state, possible = system.run_phase(phase, state, choices)
        allowed.append(lift_truth(possible))
        all_choices |= choices
    initial = _build_initial_state(system, parameters)
    return SummarisedRound(system, initial, before, state, tuple(parameter_facts), tuple(allowed), Choices(all_choices))


def _build_choice(choice: Choice, state: State) -> Any:
    match choice:
        case Flag():
            return Bool(z3.Bool(choice.name))
        case Subset():
            return SummarySelection(state[choice.of], choice.name)
        case Amount():
            return Int(z3.Int(choice.name))


def _build_initial_state(system: System, parameters: Mapping[str, Number]) -> State:
    values = dict(parameters)
    for variable in system.variables:
        value = variable.compute_initial_value(State(parameters))
        if isinstance(variable.sort, Ages):
            value = SummaryBuffer.from_ages(parameters[variable.sort.bound], value)
        values[variable.name] = value
    return State(values)


def build_any_state(system: System, parameters: Mapping[str, Number], suffix: str = "") -> State:
    """Build an arbitrary state of symbolic constants: one for each variable, two for each buffer."""
    values = {v.name: _build_any_value(v, parameters, f"{v.name}{suffix}") for v in system.variables}
    return State({**parameters, **values})


def _build_any_value(variable: Variable, parameters: Mapping[str, Number], name: str) -> Any:
    if isinstance(variable.sort, Ages):
        return SummaryBuffer.from_name(parameters[variable.sort.bound], name)
    (value,) = build_fresh_parts(list_variable_columns(variable, parameters), name)
    return value
