"""A point of a round at which functions are called: its symbols, and the concrete states to compare on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import z3

from fdverify.author_code.evaluate import Column, Evaluator
from fdverify.author_code.points import Points
from fdverify.author_code.recording import RecordingBook
from fdverify.logic import Symbolic
from fdverify.models.buffer import CounterBuffer
from fdverify.models.layout import columns_of, parts_of, value_of
from fdverify.models.system import Choice, Choices, Flag, State, System, Variable
from fdverify.symbolic.ages import ClaimedBuffer
from fdverify.symbolic.selection import Selection, fresh_parts, predicate
from fdverify.symbolic.unroll import fresh_choice
from fdverify.symbolic.values import Bits, Value

_ROUND = 1
AGAIN = 3
"""Of the states that are checked one by one, one in this many is checked again."""


@dataclass(frozen=True)
class Symbols:
    """A symbolic state, named as the first state of an unrolling, and the choices about to be made in it."""

    system: System
    book: RecordingBook
    state: State
    choices: tuple[Choice, ...] = ()

    @cached_property
    def made(self) -> Choices:
        return Choices({choice.name: fresh_choice(choice, self.state, _ROUND) for choice in self.choices})

    @cached_property
    def names(self) -> dict[str, list[str | None]]:
        """For each variable and each choice, the names of the constants that represent it."""
        own = {variable.name: _names(self.state[variable.name]) for variable in self.system.variables}
        return own | {choice.name: _chosen_names(self.made[choice.name]) for choice in self.choices}

    def choosing(self, choices: tuple[Choice, ...]) -> Symbols:
        return Symbols(self.system, self.book, self.state, choices)

    def named_anew(self, state: State) -> Symbols:
        """Rename the symbols of the state that follows, as the compiler does: known numbers and truth values stay."""
        values = {v.name: self._named(v, state, f"{v.name}@0") for v in self.system.variables}
        return Symbols(self.system, self.book, self.state.changed(values))

    def _named(self, variable: Variable, state: State, name: str) -> Any:
        value = state[variable.name]
        if isinstance(value, ClaimedBuffer):
            return ClaimedBuffer(value.delta, predicate(name), self.book)
        constants = fresh_parts(columns_of(variable, self.state.values()), name)
        parts = [_kept(part, constant) for part, constant in zip(parts_of(value), constants, strict=True)]
        return value_of(variable, self.state.values(), parts)

    def has_constants(self) -> bool:
        """Tell whether some part of a variable is not a symbol."""
        return any(
            not isinstance(part, Symbolic)
            for variable in self.system.variables
            if not isinstance(self.state[variable.name], ClaimedBuffer)
            for part in parts_of(self.state[variable.name])
        )


def _kept(part: Any, constant: Value) -> Any:
    if isinstance(part, Symbolic):
        return constant
    return Bits(constant.lift(part)) if isinstance(constant, Bits) else part


class Site:
    """A symbolic state, and concrete states of several instances to compare on."""

    def __init__(self, symbols: Symbols, groups: Sequence[Points], plain: int) -> None:
        self.symbols = symbols
        self.groups = [group for group in groups if group.size > 0]
        self.size = sum(group.size for group in self.groups)
        self.ages = _ages(symbols.system, self.groups)
        self._plain = plain

    @cached_property
    def rows(self) -> list[tuple[int, int]]:
        """The states that are also checked one by one: the number of the instance, and the row in it.

        Among them every variable has all of its values, as far as the limit allows.
        """
        telling = [[(number, row) for row in _telling(group)] for number, group in enumerate(self.groups)]
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
        return [self._plain_at(number, row, with_names=True) for number, row in self.rows]

    @cached_property
    def numbered_states(self) -> list[tuple[State, Choices]]:
        return [self._plain_at(number, row, with_names=False) for number, row in self.rows[::AGAIN]]

    def _plain_at(self, number: int, row: int, with_names: bool) -> tuple[State, Choices]:
        group = self.groups[number]
        return group.plain_state(row, with_names), group.plain_choices(row, self.symbols.choices)

    @cached_property
    def evaluator(self) -> Evaluator:
        bound = [_bound(self.symbols, group) for group in self.groups]
        columns = {name: np.concatenate([each[0][name] for each in bound]) for name in bound[0][0]}
        members = {name: np.concatenate([_padded(each[1][name], self.ages) for each in bound]) for name in bound[0][1]}
        return Evaluator(self.size, columns, members, self.ages, self.symbols.book)


def _telling(group: Points) -> list[int]:
    """List all rows, beginning with those that together show all values of all variables."""
    rows: dict[int, None] = {}
    for column in (*group.columns.values(), *group.choices.values()):
        firsts = np.unique(column, axis=0, return_index=True)[1]
        rows |= dict.fromkeys(firsts.tolist())
    step = max(1, group.size // 16)
    spread = [row for offset in range(step) for row in range(offset, group.size, step)]
    return list(rows | dict.fromkeys(spread))


def _ages(system: System, groups: Sequence[Points]) -> int:
    return 1 + max((group.values[bound] for group in groups for bound in system.age_bounds()), default=-1)


def _padded(members: Column, ages: int) -> Column:
    return np.pad(members, ((0, 0), (0, ages - members.shape[1])))


def _bound(symbols: Symbols, group: Points) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the values of the constants, and of the predicates, in the states of one instance."""
    columns: dict[str, Column] = {name: np.full(group.size, group.values[name]) for name in symbols.system.arbitrary()}
    members: dict[str, Column] = {}
    for variable in symbols.system.variables:
        symbol = symbols.state[variable.name]
        if isinstance(symbol, ClaimedBuffer):
            members[f"{variable.name}@0"] = group.columns[variable.name]
        else:
            names = symbols.names[variable.name]
            columns |= _constants(names, parts_of(group.array_state[variable.name]), group.size)
    for choice in symbols.choices:
        symbol, column = symbols.made[choice.name], group.choices[choice.name]
        names = symbols.names[choice.name]
        if isinstance(choice, Flag):
            columns |= _constants(names, (column,), group.size)
        elif isinstance(symbol, Selection):
            name = f"{choice.name}@{_ROUND}"
            columns |= {f"{name}_any": np.asarray(column.any(axis=1)), f"{name}_one": column.argmax(axis=1)}
            members[f"{name}_all"] = column
        elif isinstance(symbol, CounterBuffer):
            columns |= _constants(names, list(column.T), group.size)
        else:
            columns |= _constants(names, group.array_choices((choice,))[choice.name].to_columns(), group.size)
    return columns, members


def _names(symbol: Any) -> list[str | None]:
    """List the names of the constants that represent a value; ``None`` for a part that is known."""
    return [] if isinstance(symbol, ClaimedBuffer) else [_name(part) for part in parts_of(symbol)]


def _chosen_names(symbol: Any) -> list[str | None]:
    # A chosen counter is represented by its digits, not by its number.
    return [_name(digit) for digit in symbol.digits] if isinstance(symbol, CounterBuffer) else _names(symbol)


def _name(part: Any) -> str | None:
    if not isinstance(part, Value) or not z3.is_const(part.term):
        return None
    declaration = part.term.decl()
    return str(declaration.name()) if declaration.kind() == z3.Z3_OP_UNINTERPRETED else None


def _constants(names: Sequence[str | None], values: Sequence[Any], size: int) -> dict[str, Column]:
    return {
        name: np.broadcast_to(np.asarray(value), (size,))
        for name, value in zip(names, values, strict=True)
        if name is not None
    }
