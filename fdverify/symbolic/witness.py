"""Reading a run from a solver's model; the run is replayed while it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fdverify.errors import InternalError
from fdverify.logic import Symbolic
from fdverify.models.buffer import find_buffer_class
from fdverify.models.system import Ages, State, Subset, System
from fdverify.runs.concrete_interpreter import (
    ChoiceValues,
    build_initial_state,
    convert_to_plain,
    run_phase,
)
from fdverify.runs.layout import split_value
from fdverify.runs.run import Run
from fdverify.symbolic.listed_buffer import ListedBuffer
from fdverify.symbolic.selection import read_listed_ages, read_selection
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import Value

TermReader: TypeAlias = Callable[[Any], int | bool]
"""A function that returns the value of a Z3 term in the model."""


def read_run(unrolling: Unrolling, read: TermReader) -> Run:
    """Read the run of all unrolled rounds, and check that compiler and interpreter agree on every state of it."""
    parameters = read_parameters(unrolling, read)
    system = unrolling.system.fix_parameters({name: parameters[name] for name in unrolling.system.list_arbitrary()})
    state = read_state(unrolling, read)[1] if unrolling.anywhere else build_initial_state(system)
    start = convert_to_plain(system, state) if unrolling.anywhere else None
    rounds: list[ChoiceValues] = []
    for number, choices in enumerate(unrolling.choices, start=1):
        chosen: dict[str, Any] = {}
        for phase in system.phases:
            for choice in phase.choices:
                if not isinstance(choice, Subset):
                    chosen[choice.name] = _read_value(read, choices[choice.name])
                else:
                    buffer = state[choice.of]
                    ages = read_selection(choices[choice.name], lambda part: _read_value(read, part), buffer.delta)
                    chosen[choice.name] = ages & buffer.ages()
            after = run_phase(system, phase, state, chosen)
            if after is None:
                raise InternalError(f"the interpreter rejects the solver's choices in round {number}, {phase.name}")
            state = after
        _check_agreement(system, state, unrolling.states[number], read, number)
        rounds.append(chosen)
    return Run(parameters, tuple(rounds), start=start)


def read_parameters(unrolling: Unrolling, read: TermReader) -> dict[str, int]:
    return {name: _read_value(read, value) for name, value in unrolling.parameters.items()}


def read_state(unrolling: Unrolling, read: TermReader) -> tuple[System, State]:
    """Read the first state of an unrolling from anywhere; return it with the system, whose parameters are fixed."""
    parameters = read_parameters(unrolling, read)
    system = unrolling.system.fix_parameters({name: parameters[name] for name in unrolling.system.list_arbitrary()})
    symbolic = unrolling.states[0]
    values: dict[str, Any] = dict(parameters)
    for variable in system.variables:
        value = symbolic[variable.name]
        if isinstance(variable.sort, Ages):
            bound = parameters[variable.sort.bound]
            members = [_read_value(read, value.has(age)) for age in range(bound + 1)]
            values[variable.name] = find_buffer_class(variable.sort.encoding).from_members(bound, members)
        else:
            values[variable.name] = _read_value(read, value)
    return system, State(values)


def _check_agreement(system: System, concrete: State, symbolic: State, read: TermReader, number: int) -> None:
    for variable in system.variables:
        theirs = symbolic[variable.name]
        if isinstance(theirs, ListedBuffer):
            ours = concrete[variable.name]
            agree = read_listed_ages(theirs, lambda part: _read_value(read, part), ours.delta) == ours.ages()
        elif isinstance(variable.sort, Ages) and isinstance(theirs.delta, Symbolic):
            continue  # only some ages have a value in the model; the run's end shows whether they were the right ones
        else:
            parts = [_read_value(read, part) for part in split_value(theirs)]
            agree = parts == list(split_value(concrete[variable.name]))
        if not agree:
            raise InternalError(f"interpreter and compiler disagree on {variable.name} after round {number}")


def _read_value(read: TermReader, value: Any) -> Any:
    return read(value.term) if isinstance(value, Value) else value
