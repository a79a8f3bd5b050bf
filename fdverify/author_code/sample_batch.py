"""Concrete states to compare on, with a column for each variable, in the three forms that engines use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdverify.models.buffer import find_buffer_class
from fdverify.models.system import Ages, Choice, Choices, Flags, Labels, State, Subset, System

Column = NDArray[Any]
Columns = Mapping[str, Column]
"""For each variable or choice, a column of values; for a buffer, a row of truth values per state, one for each age."""


@dataclass(frozen=True)
class SampleBatch:
    """States of a system with fixed parameters, with the choices made in them if a phase is about to run."""

    system: System
    values: Mapping[str, int]
    columns: Columns
    reachable: Column
    choices: Columns

    @property
    def size(self) -> int:
        return len(self.reachable)

    def take(self, index: Column) -> SampleBatch:
        """Select states by their indexes, which may repeat."""
        return SampleBatch(
            self.system,
            self.values,
            {name: column[index] for name, column in self.columns.items()},
            self.reachable[index],
            {name: column[index] for name, column in self.choices.items()},
        )

    def with_columns(self, columns: Columns) -> SampleBatch:
        """Replace columns, and drop the choices."""
        return SampleBatch(self.system, self.values, {**self.columns, **columns}, self.reachable, {})

    def with_choices(self, choices: Columns) -> SampleBatch:
        return SampleBatch(self.system, self.values, self.columns, self.reachable, choices)

    @cached_property
    def array_state(self) -> State:
        """All states at once, as arrays, which is how explore sees them."""
        return self._build_array_state(exact=False)

    @cached_property
    def exact_state(self) -> State:
        """All states at once, with Python's integers, which do not wrap around."""
        return self._build_array_state(exact=True)

    def _build_array_state(self, exact: bool) -> State:
        values: dict[str, Any] = dict(self.values)
        for variable in self.system.variables:
            column = self.columns[variable.name]
            if isinstance(variable.sort, Ages):
                values[variable.name] = self._build_buffer(variable.sort, list(column.T))
            else:
                values[variable.name] = _widen(column, exact)
        return State(values)

    def build_array_choices(self, choices: Sequence[Choice], exact: bool = False) -> Choices:
        """Build the choices of all states at once; ``exact`` integers are Python's, which do not wrap around."""
        return Choices(
            {
                choice.name: self._build_buffer(self._find_sort(choice), list(self.choices[choice.name].T))
                if isinstance(choice, Subset)
                else _widen(self.choices[choice.name], exact)
                for choice in choices
            }
        )

    def build_plain_state(self, row: int, with_names: bool) -> State:
        """Build one state as the interpreter sees it; a label is a member of its enum, or a number."""
        values: dict[str, Any] = dict(self.values)
        for variable in self.system.variables:
            value = _read_row(self.columns[variable.name], row)
            match variable.sort:
                case Ages():
                    values[variable.name] = self._build_buffer(variable.sort, value)
                case Labels(names):
                    values[variable.name] = names(value) if with_names else value
                case _:
                    values[variable.name] = value
        return State(values)

    def build_plain_choices(self, row: int, choices: Sequence[Choice]) -> Choices:
        return Choices(
            {
                choice.name: self._build_buffer(self._find_sort(choice), _read_row(self.choices[choice.name], row))
                if isinstance(choice, Subset)
                else _read_row(self.choices[choice.name], row)
                for choice in choices
            }
        )

    def _find_sort(self, choice: Subset) -> Ages:
        sort = next(v.sort for v in self.system.variables if v.name == choice.of)
        assert isinstance(sort, Ages), "a system checks what subsets are chosen from"
        return sort

    def _build_buffer(self, sort: Ages, members: Sequence[Any]) -> Any:
        return find_buffer_class(sort.encoding).from_members(self.values[sort.bound], members)


def _widen(column: Column, exact: bool) -> Column:
    return column.astype(object) if exact and column.dtype != bool else column


def _read_row(column: Column, row: int) -> Any:
    """Read one row as plain values; a large integer is one already."""
    return column[row : row + 1].tolist()[0]


def join_batches(parts: Sequence[SampleBatch]) -> SampleBatch:
    """Concatenate states of one instance, without their choices."""
    first = parts[0]
    return SampleBatch(
        first.system,
        first.values,
        {name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns},
        np.concatenate([part.reachable for part in parts]),
        {},
    )


def extract_columns(system: System, state: State, size: int) -> dict[str, Column]:
    """Extract the columns of a state of arrays; a variable may be a single value there, the same in all states."""
    columns: dict[str, Column] = {}
    for variable in system.variables:
        value = state[variable.name]
        match variable.sort:
            case Ages():
                members = [np.broadcast_to(np.asarray(value.has(age), bool), (size,)) for age in range(value.delta + 1)]
                columns[variable.name] = np.stack(members, axis=1)
            case Flags():
                columns[variable.name] = np.broadcast_to(np.asarray(value, bool), (size,))
            case _:
                columns[variable.name] = np.broadcast_to(np.asarray(value), (size,))
    return columns
