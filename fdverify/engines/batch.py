"""Phases run on arrays: many states at once, every choice of each.

The phases are the interpreter's own; only what they are given differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdverify.engines.state_table import WORD_BITS, Rows
from fdverify.errors import InternalError, UsageError
from fdverify.models.layout import Layout
from fdverify.models.system import Choice, Flag, Labels, Phase, State, no_label

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Expansion:
    """What came out of a phase: the states, and for each the state it came from and the choices that were made."""

    rows: Rows
    origin: Index
    choices: Mapping[str, NDArray[Any] | list[NDArray[Any]]]

    def made(self, at: int) -> dict[str, bool | frozenset[int]]:
        return {
            name: frozenset(age for age, member in enumerate(value) if member[at])
            if isinstance(value, list)
            else bool(value[at])
            for name, value in self.choices.items()
        }


class Batches:
    """Batches of states of one system with fixed parameters."""

    def __init__(self, layout: Layout, exact: bool) -> None:
        self.layout = layout
        self.exact = exact
        self.kinds = [_kind(column, exact) for column in layout.columns]
        owners = enumerate(layout.owners())
        self._labels = [(v, set(v.sort.names), place) for place, v in owners if isinstance(v.sort, Labels)]

    def largest(self, rows: Rows) -> int:
        """The largest number in a batch, whatever its sign."""
        integers = [column for column, kind in zip(rows, self.layout.columns, strict=True) if kind == "int"]
        return max((max(abs(int(c.min())), abs(int(c.max()))) for c in integers if len(c)), default=0)

    def rows(self, state: State) -> Rows:
        """One concrete state as a batch."""
        return [np.array([part], dtype=kind) for part, kind in zip(self.layout.flatten(state), self.kinds, strict=True)]

    def state(self, rows: Rows) -> State:
        return self.layout.restore(rows)

    def flattened(self, state: State, size: int) -> Rows:
        """The columns of a batch of ``size`` states; a part that is the same in all of them may be a single value."""
        parts = zip(self.layout.flatten(state), self.kinds, strict=True)
        return [_column(part, kind, size) for part, kind in parts]

    def expand(self, phase: Phase, rows: Rows) -> Expansion:
        """Run a phase from every state under every choice that is allowed."""
        before = self.state(rows)
        origin: Index = np.arange(len(rows[0]))
        choices: dict[str, Any] = {}
        for choice in phase.choices:
            picked, value = self._values(choice, before, origin)
            origin = origin[picked]
            choices = {name: _taken(other, picked) for name, other in choices.items()}
            choices[choice.name] = value
        state = self.state([column[origin] for column in rows]) if phase.choices else before
        values = {c.name: _as_value(c, state, choices[c.name]) for c in phase.choices}
        try:
            after, allowed = self.layout.system.run_phase(phase, state, values)
        except ValueError as error:  # numpy refuses to be asked for the one truth value of many states
            raise UsageError(f"phase {phase.name}: {error}", "write And, Or, Not, If for and, or, not, if") from error
        kept = truths(allowed, len(origin)).nonzero()[0]
        flat = [column[kept] for column in self.flattened(after, len(origin))]
        self._check_labels(flat)
        return Expansion(flat, origin[kept], {name: _taken(value, kept) for name, value in choices.items()})

    def _check_labels(self, rows: Rows) -> None:
        for variable, names, place in self._labels:
            met = set(rows[place].tolist())
            stray = met.difference(names)
            if stray:
                raise no_label(variable, min(stray))

    def _values(self, choice: Choice, before: State, origin: Index) -> tuple[Index, Any]:
        """Which rows of ``origin`` to take, repeated once for each value that the choice can have there."""
        size = len(self.layout.flatten(before)[0])
        when = truths(choice.when(before), size)[origin]
        every: Index = np.arange(len(origin))
        if isinstance(choice, Flag):
            repeated = np.concatenate([every, when.nonzero()[0]])
            return repeated, np.arange(len(repeated)) >= len(every)
        buffer = before[choice.of]
        picked = every
        members: list[NDArray[Any]] = []
        for age in range(buffer.delta + 1):
            there = truths(buffer.has(age), size)[origin][picked] & when[picked]
            also = there.nonzero()[0]
            members = [np.concatenate([member, member[also]]) for member in members]
            members.append(np.arange(len(picked) + len(also)) >= len(picked))
            picked = np.concatenate([picked, picked[also]])
        return picked, members


def step_back(expansions: Sequence[Expansion], ends: Rows, target: Sequence[Any]) -> tuple[dict[str, Any], int]:
    """Choices that lead through these phases to a certain end, and the position of the state they start from."""
    matches = np.logical_and.reduce([column == part for column, part in zip(ends, target, strict=True)])
    if not matches.any():
        raise InternalError("no state leads to the one that was found after it")
    at = int(np.flatnonzero(matches)[0])
    made: dict[str, Any] = {}
    for expansion in reversed(expansions):
        made.update(expansion.made(at))
        at = int(expansion.origin[at])
    return made, at


def truths(value: Any, size: int) -> NDArray[Any]:
    return _column(value, bool, size)


def _column(value: Any, kind: type, size: int) -> NDArray[Any]:
    column: NDArray[Any] = np.asarray(value, dtype=kind)
    return column if column.shape == (size,) else np.broadcast_to(column, (size,))


def _taken(value: Any, index: Index) -> Any:
    return [part[index] for part in value] if isinstance(value, list) else value[index]


def _as_value(choice: Choice, state: State, value: Any) -> Any:
    if isinstance(choice, Flag):
        return value
    buffer = state[choice.of]
    return type(buffer).from_members(buffer.delta, value)


def _kind(column: str | int, exact: bool) -> type:
    """How a column is stored; ``exact``: integers as Python's own, which never overflow."""
    match column:
        case "bool":
            return bool
        case "int":
            return object if exact else np.int64
        case width:
            return object if int(width) > WORD_BITS else np.int64
