"""The concrete interpreter: it runs one state at a time on Python values, for replay, simulation and dead ends.

Callers pass a choice as plain data: a ``bool``, an ``int``, or the frozenset of ages that a subset selects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, TypeAlias

from fdverify.errors import ResourcesExhausted
from fdverify.models.buffer import ColumnBuffer, enumerate_subsets, find_buffer_class
from fdverify.models.system import (
    Ages,
    Amount,
    Choice,
    Choices,
    Flag,
    Labels,
    Phase,
    State,
    Subset,
    System,
    build_label_error,
)
from fdverify.runs.layout import join_value, split_value

_MOST_NUMBERS = 10**6

ChoiceValues: TypeAlias = Mapping[str, bool | int | frozenset[int]]
"""The values of the choices in a round or a phase, by name."""

PlainValue: TypeAlias = bool | int | frozenset[int]
"""A variable's value outside the interpreter: a program counter is a number, a buffer is a set of ages."""


def build_initial_state(system: System) -> State:
    parameters = State(system.compute_fixed_parameters())
    values = dict(parameters.values())
    for variable in system.variables:
        value = variable.compute_initial_value(parameters)
        if isinstance(variable.sort, Ages):
            value = find_buffer_class(variable.sort.encoding).from_ages(parameters[variable.sort.bound], value)
        values[variable.name] = value
    return State(values)


def build_state(system: System, values: Mapping[str, PlainValue]) -> State:
    """Build the state with these values of the variables."""
    state = dict[str, Any](system.compute_fixed_parameters())
    for variable in system.variables:
        value: Any = values[variable.name]
        if isinstance(variable.sort, Ages):
            value = find_buffer_class(variable.sort.encoding).from_ages(state[variable.sort.bound], value)
        state[variable.name] = value
    return State(state)


def convert_to_plain(system: System, state: State) -> dict[str, PlainValue]:
    """Return the variables' values as plain data, from which :func:`build_state` builds the state again."""
    return {v.name: state[v.name].ages() if isinstance(v.sort, Ages) else state[v.name] for v in system.variables}


def run_phase(system: System, phase: Phase, state: State, chosen: Mapping[str, Any]) -> State | None:
    """Run a phase; return the state after it, or ``None`` if the phase does not allow these choices."""
    choices = {choice.name: _build_choice_value(choice, state, chosen[choice.name]) for choice in phase.choices}
    after, allowed = system.run_phase(phase, state, choices)
    return normalise_state(system, after) if allowed else None


def build_round_choices(system: System, state: State, chosen: ChoiceValues) -> Choices:
    """Convert the choices of a whole round to the values that phases see."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    return Choices({choice.name: _build_choice_value(choice, state, chosen[choice.name]) for choice in choices})


def enumerate_outcomes(system: System, phase: Phase, state: State) -> Iterator[tuple[dict[str, Any], State]]:
    """Enumerate the allowed choices of a phase, each with the state it leads to."""
    names = [choice.name for choice in phase.choices]
    for values in product(*(_enumerate_values(choice, state) for choice in phase.choices)):
        chosen = dict(zip(names, values, strict=True))
        after = run_phase(system, phase, state, chosen)
        if after is not None:
            yield chosen, after


def find_first_round(system: System, state: State) -> dict[str, Any] | None:
    """Find the first choices that lead through a whole round; return ``None`` at a dead end."""
    return _find_first_way(system, state, 0)


def _find_first_way(system: System, state: State, index: int) -> dict[str, Any] | None:
    if index == len(system.phases):
        return {}
    for chosen, after in enumerate_outcomes(system, system.phases[index], state):
        rest = _find_first_way(system, after, index + 1)
        if rest is not None:
            return {**chosen, **rest}
    return None


def normalise_state(system: System, state: State) -> State:
    """Refuse unknown labels, and store every buffer in plain columns; else each round would wrap the one before."""
    for variable in system.variables:
        if isinstance(variable.sort, Labels) and state[variable.name] not in list(variable.sort.names):
            raise build_label_error(variable, state[variable.name])
    buffers = [v for v in system.variables if isinstance(v.sort, Ages)]
    return state.changed({v.name: join_value(v, state.values(), split_value(state[v.name])) for v in buffers})


def observe_state(system: System, state: State) -> dict[str, Any]:
    """Return the variables as plain data: truth values, integers, names of program counters, sets of ages."""
    values: dict[str, Any] = {}
    for variable in system.variables:
        value = state[variable.name]
        match variable.sort:
            case Labels(names):
                values[variable.name] = names(value).name
            case Ages():
                values[variable.name] = value.ages()
            case _:
                values[variable.name] = value
    return values


def _enumerate_values(choice: Choice, state: State) -> Iterator[Any]:
    match choice:
        case Flag():
            return iter((False, True)) if choice.when(state) else iter((False,))
        case Subset():
            ages: frozenset[int] = state[choice.of].ages() if choice.when(state) else frozenset()
            return enumerate_subsets(ages)
        case Amount():
            numbers = range(choice.low(state), choice.high(state) + 1)
            if len(numbers) > _MOST_NUMBERS:
                raise ResourcesExhausted(f"{choice.name} has too many values to try them all: {len(numbers)}")
            return iter(numbers)


def _build_choice_value(choice: Choice, state: State, chosen: Any) -> Any:
    if isinstance(choice, Subset):
        buffer: ColumnBuffer = state[choice.of]
        return type(buffer).from_ages(buffer.delta, chosen)
    return chosen
