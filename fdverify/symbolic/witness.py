"""Reading a run from a solver's model; the run is replayed while it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fdverify.errors import InternalError
from fdverify.logic import Symbolic
from fdverify.models.buffer import column_buffer
from fdverify.models.interpret import Made, initial_state, plain_state, run_phase
from fdverify.models.layout import parts_of
from fdverify.models.system import Ages, Flag, State, System
from fdverify.symbolic.selection import read_selection
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import Value
from fdverify.traces.run import Run

Read: TypeAlias = Callable[[Any], int | bool]
"""A function that returns the value of a Z3 term in the model."""


def read_run(unrolling: Unrolling, read: Read) -> Run:
    """Read the run of all unrolled rounds, and check that compiler and interpreter agree on every state of it."""
    parameters = read_parameters(unrolling, read)
    system = unrolling.system.at({name: parameters[name] for name in unrolling.system.arbitrary()})
    state = read_state(unrolling, read)[1] if unrolling.anywhere else initial_state(system)
    start = plain_state(system, state) if unrolling.anywhere else None
    rounds: list[Made] = []
    for number, choices in enumerate(unrolling.choices, start=1):
        chosen: dict[str, Any] = {}
        for phase in system.phases:
            for choice in phase.choices:
                if isinstance(choice, Flag):
                    chosen[choice.name] = _value(read, choices[choice.name])
                else:
                    buffer = state[choice.of]
                    ages = read_selection(choices[choice.name], lambda part: _value(read, part), buffer.delta)
                    chosen[choice.name] = ages & buffer.ages()
            after = run_phase(system, phase, state, chosen)
            if after is None:
                raise InternalError(f"the interpreter rejects the solver's choices in round {number}, {phase.name}")
            state = after
        _agree(system, state, unrolling.states[number], read, number)
        rounds.append(chosen)
    return Run(parameters, tuple(rounds), start=start)


def read_parameters(unrolling: Unrolling, read: Read) -> dict[str, int]:
    return {name: _value(read, value) for name, value in unrolling.parameters.items()}


def read_state(unrolling: Unrolling, read: Read) -> tuple[System, State]:
    """Read the first state of an unrolling from anywhere; return it with the system, whose parameters are fixed."""
    parameters = read_parameters(unrolling, read)
    system = unrolling.system.at({name: parameters[name] for name in unrolling.system.arbitrary()})
    symbolic = unrolling.states[0]
    values: dict[str, Any] = dict(parameters)
    for variable in system.variables:
        value = symbolic[variable.name]
        if isinstance(variable.sort, Ages):
            bound = parameters[variable.sort.bound]
            members = [_value(read, value.has(age)) for age in range(bound + 1)]
            values[variable.name] = column_buffer(variable.sort.encoding).from_members(bound, members)
        else:
            values[variable.name] = _value(read, value)
    return system, State(values)


def _agree(system: System, concrete: State, symbolic: State, read: Read, number: int) -> None:
    for variable in system.variables:
        theirs = symbolic[variable.name]
        if isinstance(variable.sort, Ages) and isinstance(theirs.delta, Symbolic):
            continue  # only some ages have a value in the model; the run's end shows whether they were the right ones
        if [_value(read, part) for part in parts_of(theirs)] != list(parts_of(concrete[variable.name])):
            raise InternalError(f"interpreter and compiler disagree on {variable.name} after round {number}")


def _value(read: Read, value: Any) -> Any:
    return read(value.term) if isinstance(value, Value) else value
