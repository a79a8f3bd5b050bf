"""The concrete interpreter: it runs one state at a time on Python values, for replay, simulation and dead ends.

Callers pass a choice as plain data: a ``bool``, or the frozenset of ages that a subset selects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, TypeAlias

from fdverify.models.buffer import ColumnBuffer, column_buffer, subsets
from fdverify.models.layout import parts_of, value_of
from fdverify.models.system import Ages, Choice, Choices, Flag, Labels, Phase, State, Subset, System, no_label

Made: TypeAlias = Mapping[str, bool | frozenset[int]]
"""The values of the choices in a round or a phase, by name."""

Plain: TypeAlias = bool | int | frozenset[int]
"""A variable's value outside the interpreter: a program counter is a number, a buffer is a set of ages."""


def initial_state(system: System) -> State:
    parameters = State(system.fixed_values())
    values = dict(parameters.values())
    for variable in system.variables:
        value = variable.initial_value(parameters)
        if isinstance(variable.sort, Ages):
            value = column_buffer(variable.sort.encoding).of(parameters[variable.sort.bound], value)
        values[variable.name] = value
    return State(values)


def state_of(system: System, values: Mapping[str, Plain]) -> State:
    """Build the state with these values of the variables."""
    state = dict[str, Any](system.fixed_values())
    for variable in system.variables:
        value: Any = values[variable.name]
        if isinstance(variable.sort, Ages):
            value = column_buffer(variable.sort.encoding).of(state[variable.sort.bound], value)
        state[variable.name] = value
    return State(state)


def plain_state(system: System, state: State) -> dict[str, Plain]:
    """Return the variables' values as plain data, from which :func:`build_state` builds the state again."""
    return {v.name: state[v.name].ages() if isinstance(v.sort, Ages) else state[v.name] for v in system.variables}


def run_phase(system: System, phase: Phase, state: State, chosen: Mapping[str, Any]) -> State | None:
    """Run a phase; return the state after it, or ``None`` if the phase does not allow these choices."""
    choices = {choice.name: _as_value(choice, state, chosen[choice.name]) for choice in phase.choices}
    after, allowed = system.run_phase(phase, state, choices)
    return settled(system, after) if allowed else None


def round_choices(system: System, state: State, chosen: Made) -> Choices:
    """Convert the choices of a whole round to the values that phases see."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    return Choices({choice.name: _as_value(choice, state, chosen[choice.name]) for choice in choices})


def possible(system: System, phase: Phase, state: State) -> Iterator[tuple[dict[str, Any], State]]:
    """Enumerate the allowed choices of a phase, each with the state it leads to."""
    names = [choice.name for choice in phase.choices]
    for values in product(*(_domain(choice, state) for choice in phase.choices)):
        chosen = dict(zip(names, values, strict=True))
        after = run_phase(system, phase, state, chosen)
        if after is not None:
            yield chosen, after


def first_round(system: System, state: State) -> dict[str, Any] | None:
    """Find the first choices that lead through a whole round; return ``None`` at a dead end."""
    return _first_way(system, state, 0)


def _first_way(system: System, state: State, index: int) -> dict[str, Any] | None:
    if index == len(system.phases):
        return {}
    for chosen, after in possible(system, system.phases[index], state):
        rest = _first_way(system, after, index + 1)
        if rest is not None:
            return {**chosen, **rest}
    return None


def settled(system: System, state: State) -> State:
    """Refuse unknown labels, and store every buffer in plain columns; else each round would wrap the one before."""
    for variable in system.variables:
        if isinstance(variable.sort, Labels) and state[variable.name] not in list(variable.sort.names):
            raise no_label(variable, state[variable.name])
    buffers = [v for v in system.variables if isinstance(v.sort, Ages)]
    return state.changed({v.name: value_of(v, state.values(), parts_of(state[v.name])) for v in buffers})


def observe(system: System, state: State) -> dict[str, Any]:
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


def _domain(choice: Choice, state: State) -> Iterator[Any]:
    match choice:
        case Flag():
            return iter((False, True)) if choice.when(state) else iter((False,))
        case Subset():
            ages: frozenset[int] = state[choice.of].ages() if choice.when(state) else frozenset()
            return subsets(ages)


def _as_value(choice: Choice, state: State, chosen: Any) -> Any:
    if isinstance(choice, Flag):
        return chosen
    buffer: ColumnBuffer = state[choice.of]
    return type(buffer).of(buffer.delta, chosen)
