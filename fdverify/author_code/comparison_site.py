"""A point of a round at which functions are called: its symbols, and the concrete states to compare on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import z3

from fdverify.author_code.sample_batch import SampleBatch
from fdverify.author_code.term_evaluator import Column, RecordingBook, TermEvaluator
from fdverify.logic import Symbolic
from fdverify.models.buffer import CounterBuffer
from fdverify.models.system import Choice, Choices, State, Subset, System, Variable
from fdverify.runs.layout import join_value, list_variable_columns, split_value
from fdverify.symbolic.age_claims import SymbolicBuffer
from fdverify.symbolic.selection import Selection, build_fresh_parts, build_predicate
from fdverify.symbolic.unrolling import build_fresh_choice
from fdverify.symbolic.values import Bits, Value

_ROUND = 1
REPEAT_EVERY = 3
"""Of the states that are checked one by one, one in this many is checked again."""


@dataclass(frozen=True)
class SymbolicState:
    """A symbolic state, named as the first state of an unrolling, and the choices about to be made in it."""

    system: System
    book: RecordingBook
    state: State
    choices: tuple[Choice, ...] = ()

    @cached_property
    def choice_symbols(self) -> Choices:
        return Choices({choice.name: build_fresh_choice(choice, self.state, _ROUND) for choice in self.choices})

    @cached_property
    def constant_names(self) -> dict[str, list[str | None]]:
        """For each variable and each choice, the names of the constants that represent it."""
        own = {variable.name: _list_constant_names(self.state[variable.name]) for variable in self.system.variables}
        return own | {
            choice.name: _list_choice_constant_names(self.choice_symbols[choice.name]) for choice in self.choices
        }

    def with_choices(self, choices: tuple[Choice, ...]) -> SymbolicState:
        return SymbolicState(self.system, self.book, self.state, choices)

    def rename_state(self, state: State) -> SymbolicState:
        """Rename the symbols of the state that follows, as the compiler does: known numbers and truth values stay."""
        values = {v.name: self._rename_variable(v, state, f"{v.name}@0") for v in self.system.variables}
        return SymbolicState(self.system, self.book, self.state.changed(values))

    def _rename_variable(self, variable: Variable, state: State, name: str) -> Any:
        value = state[variable.name]
        if isinstance(value, SymbolicBuffer):
            return SymbolicBuffer(value.delta, build_predicate(name), self.book)
        constants = build_fresh_parts(list_variable_columns(variable, self.state.values()), name)
        parts = [_rename_part(part, constant) for part, constant in zip(split_value(value), constants, strict=True)]
        return join_value(variable, self.state.values(), parts)

    def has_constants(self) -> bool:
        """Tell whether some part of a variable is not a symbol."""
        return any(
            not isinstance(part, Symbolic)
            for variable in self.system.variables
            if not isinstance(self.state[variable.name], SymbolicBuffer)
            for part in split_value(self.state[variable.name])
        )


def _rename_part(part: Any, constant: Value) -> Any:
    if isinstance(part, Symbolic):
        return constant
    return Bits(constant.lift(part)) if isinstance(constant, Bits) else part


class ComparisonSite:
    """A symbolic state, and concrete states of several instances to compare on."""

    def __init__(self, symbols: SymbolicState, groups: Sequence[SampleBatch], plain: int) -> None:
        self.symbols = symbols
        self.groups = [group for group in groups if group.size > 0]
        self.size = sum(group.size for group in self.groups)
        self.ages = _count_ages(symbols.system, self.groups)
        self._plain = plain

    @cached_property
    def rows(self) -> list[tuple[int, int]]:
        """The states that are also checked one by one: the number of the instance, and the row in it.

        Among them every variable has all of its values, as far as the limit allows.
        """
        telling = [[(number, row) for row in _order_rows(group)] for number, group in enumerate(self.groups)]
        share = max(1, self._plain // max(1, len(self.groups)))
        first = [place for places in telling for place in places[:share]]
        left = [place for places in telling for place in places[share:]]
        return sorted([*first, *left[: max(0, self._plain - len(first))]])

    @cached_property
    def index(self) -> Column:
        """The positions of those states among all states."""
        first = np.cumsum([0, *(group.size for group in self.groups)])
        return np.array([first[number] + row for number, row in self.rows], dtype=np.int64)

    @cached_property
    def named_states(self) -> list[tuple[State, Choices]]:
        return [self._build_plain_state(number, row, with_names=True) for number, row in self.rows]

    @cached_property
    def numbered_states(self) -> list[tuple[State, Choices]]:
        return [self._build_plain_state(number, row, with_names=False) for number, row in self.rows[::REPEAT_EVERY]]

    def _build_plain_state(self, number: int, row: int, with_names: bool) -> tuple[State, Choices]:
        group = self.groups[number]
        return group.build_plain_state(row, with_names), group.build_plain_choices(row, self.symbols.choices)

    @cached_property
    def evaluator(self) -> TermEvaluator:
        bound = [_bind_constants(self.symbols, group) for group in self.groups]
        columns = {name: np.concatenate([each[0][name] for each in bound]) for name in bound[0][0]}
        members = {
            name: np.concatenate([_pad_members(each[1][name], self.ages) for each in bound]) for name in bound[0][1]
        }
        return TermEvaluator(self.size, columns, members, self.ages, self.symbols.book)


def _order_rows(group: SampleBatch) -> list[int]:
    """List all rows, beginning with those that together show all values of all variables."""
    rows: dict[int, None] = {}
    for column in (*group.columns.values(), *group.choices.values()):
        firsts = np.unique(column, axis=0, return_index=True)[1]
        rows |= dict.fromkeys(firsts.tolist())
    step = max(1, group.size // 16)
    spread = [row for offset in range(step) for row in range(offset, group.size, step)]
    return list(rows | dict.fromkeys(spread))


def _count_ages(system: System, groups: Sequence[SampleBatch]) -> int:
    return 1 + max((group.values[bound] for group in groups for bound in system.list_age_bounds()), default=-1)


def _pad_members(members: Column, ages: int) -> Column:
    return np.pad(members, ((0, 0), (0, ages - members.shape[1])))


def _bind_constants(symbols: SymbolicState, group: SampleBatch) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the values of the constants, and of the predicates, in the states of one instance."""
    columns: dict[str, Column] = {
        name: np.full(group.size, group.values[name]) for name in symbols.system.list_arbitrary()
    }
    members: dict[str, Column] = {}
    for variable in symbols.system.variables:
        symbol = symbols.state[variable.name]
        if isinstance(symbol, SymbolicBuffer):
            members[f"{variable.name}@0"] = group.columns[variable.name]
        else:
            names = symbols.constant_names[variable.name]
            columns |= _build_constant_columns(names, split_value(group.array_state[variable.name]), group.size)
    for choice in symbols.choices:
        symbol, column = symbols.choice_symbols[choice.name], group.choices[choice.name]
        names = symbols.constant_names[choice.name]
        if not isinstance(choice, Subset):
            columns |= _build_constant_columns(names, (column,), group.size)
        elif isinstance(symbol, Selection):
            name = f"{choice.name}@{_ROUND}"
            columns |= {f"{name}_any": np.asarray(column.any(axis=1)), f"{name}_one": column.argmax(axis=1)}
            members[f"{name}_all"] = column
        elif isinstance(symbol, CounterBuffer):
            columns |= _build_constant_columns(names, list(column.T), group.size)
        else:
            columns |= _build_constant_columns(
                names, group.build_array_choices((choice,))[choice.name].to_columns(), group.size
            )
    return columns, members


def _list_constant_names(symbol: Any) -> list[str | None]:
    """List the names of the constants that represent a value; ``None`` for a part that is known."""
    return [] if isinstance(symbol, SymbolicBuffer) else [_find_constant_name(part) for part in split_value(symbol)]


def _list_choice_constant_names(symbol: Any) -> list[str | None]:
    # A chosen counter is represented by its digits, not by its number.
    return (
        [_find_constant_name(digit) for digit in symbol.digits]
        if isinstance(symbol, CounterBuffer)
        else _list_constant_names(symbol)
    )


def _find_constant_name(part: Any) -> str | None:
    if not isinstance(part, Value) or not z3.is_const(part.term):
        return None
    declaration = part.term.decl()
    return str(declaration.name()) if declaration.kind() == z3.Z3_OP_UNINTERPRETED else None


def _build_constant_columns(names: Sequence[str | None], values: Sequence[Any], size: int) -> dict[str, Column]:
    return {
        name: np.broadcast_to(np.asarray(value), (size,))
        for name, value in zip(names, values, strict=True)
        if name is not None
    }
