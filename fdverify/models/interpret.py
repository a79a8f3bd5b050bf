"""The concrete interpreter: one state at a time, on Python values.  It replays, simulates, and finds dead ends.

Outside, a choice is plain data: a ``bool``, or the frozenset of ages that a subset names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, TypeAlias

from fdverify.models.buffer import ColumnBuffer, column_buffer, subsets
from fdverify.models.layout import parts_of, value_of
from fdverify.models.system import Ages, Choice, Choices, Flag, Labels, Phase, State, Subset, System, no_label

Made: TypeAlias = Mapping[str, bool | frozenset[int]]
"""The choices made in a round or a phase."""

Plain: TypeAlias = bool | int | frozenset[int]
"""A variable's value outside of the interpreter: program counters are numbers, buffers sets of ages."""


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
    """The state with these values of the variables."""
    state = dict[str, Any](system.fixed_values())
    for variable in system.variables:
        value: Any = values[variable.name]
        if isinstance(variable.sort, Ages):
            value = column_buffer(variable.sort.encoding).of(state[variable.sort.bound], value)
        state[variable.name] = value
    return State(state)


def plain_state(system: System, state: State) -> dict[str, Plain]:
    """The variables' values as plain data, for :func:`state_of`."""
    return {v.name: state[v.name].ages() if isinstance(v.sort, Ages) else state[v.name] for v in system.variables}


def run_phase(system: System, phase: Phase, state: State, made: Mapping[str, Any]) -> State | None:
    """The state after the phase, or ``None`` if these choices are not allowed in it."""
    choices = {choice.name: _as_value(choice, state, made[choice.name]) for choice in phase.choices}
    after, allowed = system.run_phase(phase, state, choices)
    return settled(system, after) if allowed else None


def round_choices(system: System, state: State, made: Made) -> Choices:
    """The choices of a whole round as phases see them."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    return Choices({choice.name: _as_value(choice, state, made[choice.name]) for choice in choices})


def possible(system: System, phase: Phase, state: State) -> Iterator[tuple[dict[str, Any], State]]:
    """Every allowed way through a phase: the choices and the state they lead to."""
    names = [choice.name for choice in phase.choices]
    for values in product(*(_domain(choice, state) for choice in phase.choices)):
        made = dict(zip(names, values, strict=True))
        after = run_phase(system, phase, state, made)
        if after is not None:
            yield made, after


def first_round(system: System, state: State) -> dict[str, Any] | None:
    """Choices that lead through a whole round, the first that are found; ``None`` at a dead end."""
    return _first_way(system, state, 0)


def _first_way(system: System, state: State, at: int) -> dict[str, Any] | None:
    if at == len(system.phases):
        return {}
    for made, after in possible(system, system.phases[at], state):
        rest = _first_way(system, after, at + 1)
        if rest is not None:
            return {**made, **rest}
    return None


def settled(system: System, state: State) -> State:
    """The same state with every buffer stored in plain parts, so that rounds do not pile up on each other."""
    for variable in system.variables:
        if isinstance(variable.sort, Labels) and state[variable.name] not in list(variable.sort.names):
            raise no_label(variable, state[variable.name])
    buffers = [v for v in system.variables if isinstance(v.sort, Ages)]
    return state.changed({v.name: value_of(v, state.values(), parts_of(state[v.name])) for v in buffers})


def observe(system: System, state: State) -> dict[str, Any]:
    """The variables as plain data: truth values, integers, names of program counters, sets of ages."""
    seen: dict[str, Any] = {}
    for variable in system.variables:
        value = state[variable.name]
        match variable.sort:
            case Labels(names):
                seen[variable.name] = names(value).name
            case Ages():
                seen[variable.name] = value.ages()
            case _:
                seen[variable.name] = value
    return seen


def _domain(choice: Choice, state: State) -> Iterator[Any]:
    match choice:
        case Flag():
            return iter((False, True)) if choice.when(state) else iter((False,))
        case Subset():
            ages: frozenset[int] = state[choice.of].ages() if choice.when(state) else frozenset()
            return subsets(ages)


def _as_value(choice: Choice, state: State, made: Any) -> Any:
    if isinstance(choice, Flag):
        return made
    buffer: ColumnBuffer = state[choice.of]
    return type(buffer).of(buffer.delta, made)
