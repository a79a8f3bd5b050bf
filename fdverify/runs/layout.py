"""The layout of a state as a flat row of columns: the explorer keeps rows in arrays, the compiler names columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from fdverify.logic import Number
from fdverify.models.buffer import Column, ColumnBuffer, find_buffer_class
from fdverify.models.system import Ages, Flags, Labels, State, System, Variable


def list_variable_columns(variable: Variable, parameters: Mapping[str, Number]) -> tuple[Column, ...]:
    match variable.sort:
        case Ages(encoding, bound):
            return find_buffer_class(encoding).list_columns(parameters[bound])
        case Flags():
            return ("bool",)
        case Labels(names):
            return (compute_label_width(names),)
        case _:
            return ("int",)


def compute_label_width(names: type[IntEnum]) -> int:
    """Return the number of bits that hold every label."""
    return max(1, max(names).bit_length())


def split_value(value: Any) -> tuple[Any, ...]:
    return value.to_columns() if isinstance(value, ColumnBuffer) else (value,)


def join_value(variable: Variable, parameters: Mapping[str, Number], parts: Sequence[Any]) -> Any:
    match variable.sort:
        case Ages(encoding, bound):
            return find_buffer_class(encoding).from_columns(parameters[bound], parts)
        case _:
            return parts[0]


class Layout:
    """The columns of a system with fixed parameters; ``variables`` may omit some of its variables."""

    def __init__(self, system: System, parameters: Mapping[str, Number], variables: Sequence[Variable]) -> None:
        self.system = system
        self.parameters = parameters
        self.variables = variables
        parts = [list_variable_columns(v, parameters) for v in variables]
        self.columns = [column for part in parts for column in part]
        self._widths = [len(part) for part in parts]

    def list_column_owners(self) -> list[Variable]:
        """Return, for each column, the variable it belongs to."""
        return [v for v, width in zip(self.variables, self._widths, strict=True) for _ in range(width)]

    def flatten_state(self, state: State) -> list[Any]:
        return [part for variable in self.variables for part in split_value(state[variable.name])]

    def restore_state(self, row: Sequence[Any]) -> State:
        values = dict(self.parameters)
        start = 0
        for variable, width in zip(self.variables, self._widths, strict=True):
            values[variable.name] = join_value(variable, self.parameters, row[start : start + width])
            start += width
        return State(values)
