"""The layout of a state as a flat row of columns: the explorer keeps rows in arrays, the compiler names columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from fdverify.logic import Number
from fdverify.models.buffer import Column, ColumnBuffer, column_buffer
from fdverify.models.system import Ages, Flags, Labels, State, System, Variable


def columns_of(variable: Variable, parameters: Mapping[str, Number]) -> tuple[Column, ...]:
    match variable.sort:
        case Ages(encoding, bound):
            return column_buffer(encoding).columns(parameters[bound])
        case Flags():
            return ("bool",)
        case Labels(names):
            return (label_width(names),)
        case _:
            return ("int",)


def label_width(names: type[IntEnum]) -> int:
    """Return the number of bits that hold every label."""
    return max(1, max(names).bit_length())


def parts_of(value: Any) -> tuple[Any, ...]:
    return value.to_columns() if isinstance(value, ColumnBuffer) else (value,)


def value_of(variable: Variable, parameters: Mapping[str, Number], parts: Sequence[Any]) -> Any:
    match variable.sort:
        case Ages(encoding, bound):
            return column_buffer(encoding).from_columns(parameters[bound], parts)
        case _:
            return parts[0]


class Layout:
    """The columns of a system with fixed parameters; ``variables`` may omit some of its variables."""

    def __init__(self, system: System, parameters: Mapping[str, Number], variables: Sequence[Variable]) -> None:
        self.system = system
        self.parameters = parameters
        self.variables = variables
        parts = [columns_of(v, parameters) for v in variables]
        self.columns = [column for part in parts for column in part]
        self._widths = [len(part) for part in parts]

    def owners(self) -> list[Variable]:
        """Return, for each column, the variable it belongs to."""
        return [v for v, width in zip(self.variables, self._widths, strict=True) for _ in range(width)]

    def flatten(self, state: State) -> list[Any]:
        return [part for variable in self.variables for part in parts_of(state[variable.name])]

    def restore(self, row: Sequence[Any]) -> State:
        values = dict(self.parameters)
        start = 0
        for variable, width in zip(self.variables, self._widths, strict=True):
            values[variable.name] = value_of(variable, self.parameters, row[start : start + width])
            start += width
        return State(values)
