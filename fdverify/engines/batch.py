"""A batch interpreter: run a phase on arrays, for many states and all their choices at once.

The phase functions are the same as the interpreter's.  Only their arguments differ: arrays instead of single values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdverify.engines.packing import HALF_WORD_BITS, WORD_BITS, Rows
from fdverify.errors import InternalError, ResourcesExhausted, UsageError
from fdverify.logic import use_exact_integers
from fdverify.models.buffer import ColumnBuffer
from fdverify.models.system import Amount, Choice, Flag, Labels, Phase, State, build_label_error
from fdverify.runs.layout import Layout

Index = NDArray[np.int64]
_MOST_SUCCESSORS = 1 << 26
"""More successors of one batch of states than this take too much memory."""


@dataclass(frozen=True)
class Expansion:
    """The successors of a batch under one phase.

    For each successor, ``origin`` is the position of the state it came from, and ``kept`` that of its choices: all
    combinations were tried, and some were not allowed.
    """

    rows: Rows
    origin: Index
    kept: Index | None
    choices: Mapping[str, NDArray[Any] | ColumnBuffer]

    def get_choices(self, position: int) -> dict[str, bool | int | frozenset[int]]:
        """Return the choices that led to the successor at this position."""
        at = position if self.kept is None else int(self.kept[position])
        chosen = {
            name: _map_columns(value, lambda column: column[at : at + 1].tolist()[0])
            for name, value in self.choices.items()
        }
        return {name: value.ages() if isinstance(value, ColumnBuffer) else value for name, value in chosen.items()}


class BatchInterpreter:
    """Interprets one system with fixed parameters, a batch of states at a time.

    Integers are of type ``integer``: the machine's, which the caller must show to suffice, or Python's (``object``).
    """

    def __init__(self, layout: Layout, integer: type, most_numbers: int | None = None) -> None:
        """Try all numbers that may be chosen, or about ``most_numbers`` in each state, both ends among them."""
        self.layout = layout
        self.integer = integer
        self._most_numbers = most_numbers
        self.kinds = [_choose_dtype(column, integer) for column in layout.columns]
        owners = enumerate(layout.list_column_owners())
        self._labels = [(v, set(v.sort.names), place) for place, v in owners if isinstance(v.sort, Labels)]

    def use_integers(self) -> AbstractContextManager[None]:
        """Let functions of a batch compute with the integers of this interpreter."""
        return use_exact_integers(self.integer is object)

    def evaluate(self, function: Callable[[State], Any], rows: Rows) -> Any:
        """Evaluate a function of the state in a batch of states."""
        with self.use_integers():
            return function(self.restore_state(rows))

    def find_largest_integer(self, rows: Rows) -> int:
        """Return the largest absolute value of an integer in a batch."""
        integers = [column for column, kind in zip(rows, self.layout.columns, strict=True) if kind == "int"]
        return max((max(abs(int(c.min())), abs(int(c.max()))) for c in integers if len(c)), default=0)

    def build_rows(self, state: State) -> Rows:
        """Return a batch that consists of one concrete state."""
        return [
            np.array([part], dtype=kind)
            for part, kind in zip(self.layout.flatten_state(state), self.kinds, strict=True)
        ]

    def restore_state(self, rows: Rows) -> State:
        return self.layout.restore_state(rows)

    def flatten_state(self, state: State, size: int) -> Rows:
        """Return the columns of a batch of ``size`` states.

        A component that is the same in all states may be a single value.
        """
        parts = zip(self.layout.flatten_state(state), self.kinds, strict=True)
        return [_broadcast_column(part, kind, size) for part, kind in parts]

    def expand(self, phase: Phase, rows: Rows) -> Expansion:
        """Run a phase from every state under every allowed choice."""
        before, size = self.restore_state(rows), len(rows[0])
        # All states come first, with neutral choices; then the same states again, with other choices.
        origin: Index = np.arange(size)
        choices: dict[str, Any] = {}
        for choice in phase.choices:
            with self.use_integers():
                repeated, value = self._enumerate_values(choice, before, size, origin)
            choices = {
                name: _map_columns(other, partial(_append_rows, index=repeated)) for name, other in choices.items()
            }
            choices[choice.name] = value
            origin = _append_rows(origin, repeated)
        state = before
        if len(origin) > size:
            rows = [_append_rows(column, origin[size:]) for column in rows]
            state = self.restore_state(rows)
        try:
            with self.use_integers():
                after, allowed = self.layout.system.run_phase(phase, state, choices)
        except ValueError as error:  # numpy has no single truth value for an array of states
            raise UsageError(f"phase {phase.name}: {error}", "write And, Or, Not, If for and, or, not, if") from error
        flat = self.flatten_state(after, len(origin))
        changed = [new is not old for new, old in zip(flat, rows, strict=True)]
        kept = None if allowed is True else build_truth_column(allowed, len(origin)).nonzero()[0]
        if kept is not None and len(kept) < len(origin):
            flat = [column.take(kept) for column in flat]
            origin = origin.take(kept)
        else:
            kept = None
        self._check_labels(flat, changed)
        return Expansion(flat, origin, kept, choices)

    def _check_labels(self, rows: Rows, changed: Sequence[bool]) -> None:
        for variable, names, place in self._labels:
            if not changed[place]:
                continue
            column = rows[place]
            least, most = min(names), max(names)
            is_range = most - least + 1 == len(names)
            if is_range and (not column.size or (least <= column.min() and column.max() <= most)):
                continue  # the quick way: most labels are numbered from 0
            unknown = set(column.tolist()).difference(names)
            if unknown:
                raise build_label_error(variable, min(unknown))

    def _enumerate_values(self, choice: Choice, before: State, size: int, origin: Index) -> tuple[Index, Any]:
        """Return the positions in ``origin`` to repeat, once for each further value of the choice, and all values.

        Every state has the neutral value first, or the least number.
        """
        if isinstance(choice, Amount):
            return self._enumerate_numbers(choice, before, size, origin)
        when = build_truth_column(choice.when(before), size)
        chosen = (when if len(origin) == size else when.take(origin)).nonzero()[0]
        if isinstance(choice, Flag):
            return chosen, _mark_last(len(origin), len(chosen))
        buffer = _map_columns(before[choice.of], lambda column: column.take(origin.take(chosen)))
        picked, sets = _enumerate_sets(buffer, len(chosen))
        kinds = self._find_kinds(choice.of)
        empty = type(buffer).from_ages(buffer.delta, ()).to_columns()
        columns = [
            np.concatenate([np.full(len(origin), first, kind), np.asarray(part, kind)])
            for first, part, kind in zip(empty, sets.to_columns(), kinds, strict=True)
        ]
        return chosen.take(picked), type(buffer).from_columns(buffer.delta, columns)

    def _enumerate_numbers(self, choice: Amount, before: State, size: int, origin: Index) -> tuple[Index, Any]:
        low, high = (
            _broadcast_column(bound(before), self.integer, size).take(origin) for bound in (choice.low, choice.high)
        )
        further = np.maximum(high - low, 0)
        tried = further if self._most_numbers is None else np.minimum(further, self._most_numbers)
        if tried.astype(float).sum() > _MOST_SUCCESSORS:
            raise ResourcesExhausted(f"{choice.name} has too many values to try them all in {len(origin)} states")
        tried = tried.astype(np.int64)
        repeated = np.repeat(np.arange(len(origin)), tried)
        place = np.arange(1, len(repeated) + 1) - np.repeat(np.cumsum(tried) - tried, tried)
        steps, gap = tried.take(repeated), further.take(repeated)
        # The numbers are spread evenly; the product of place and gap might be too large for a machine word.
        beyond = gap // np.maximum(steps, 1) * place + gap % np.maximum(steps, 1) * place // np.maximum(steps, 1)
        return repeated, np.concatenate([low, low.take(repeated) + beyond])

    def _find_kinds(self, name: str) -> list[type]:
        """Return the types of the columns of a variable."""
        owners = self.layout.list_column_owners()
        return [kind for owner, kind in zip(owners, self.kinds, strict=True) if owner.name == name]


def _enumerate_sets(buffer: ColumnBuffer, size: int) -> tuple[Index, ColumnBuffer]:
    """Enumerate the non-empty sets of ages in each of some buffers, each with the position of its buffer."""
    picked: Index = np.arange(size)
    members: list[NDArray[Any]] = []
    for age in range(buffer.delta + 1):
        present = build_truth_column(buffer.has(age), size).take(picked).nonzero()[0]
        members = [_append_rows(member, present) for member in members]
        members.append(_mark_last(len(picked), len(present)))
        picked = _append_rows(picked, present)
    return picked[size:], type(buffer).from_members(buffer.delta, [member[size:] for member in members])


def find_predecessor(expansions: Sequence[Expansion], ends: Rows, target: Sequence[Any]) -> tuple[dict[str, Any], int]:
    """Return choices that lead through these phases to the target, and the position of the state they start from."""
    matches = np.logical_and.reduce([column == part for column, part in zip(ends, target, strict=True)])
    if not matches.any():
        raise InternalError("no state leads to the one that was found after it")
    position = int(np.flatnonzero(matches)[0])
    choices: dict[str, Any] = {}
    for expansion in reversed(expansions):
        choices.update(expansion.get_choices(position))
        position = int(expansion.origin[position])
    return choices, position


def build_truth_column(value: Any, size: int) -> NDArray[Any]:
    """Return a truth value, or an array of them, as a column of ``size`` truth values."""
    return _broadcast_column(value, bool, size)


def _broadcast_column(value: Any, kind: type, size: int) -> NDArray[Any]:
    column: NDArray[Any] = np.asarray(value, dtype=kind)
    return column if column.shape == (size,) else np.broadcast_to(column, (size,))


def _mark_last(first: int, last: int) -> NDArray[np.bool_]:
    """Return a column that is false in the first rows and true in the last ones."""
    marked = np.zeros(first + last, dtype=bool)
    marked[first:] = True
    return marked


def _append_rows(column: NDArray[Any], index: Index) -> NDArray[Any]:
    """Append the rows at these positions again."""
    return np.concatenate([column, column.take(index)])


def _map_columns(value: Any, change: Callable[[NDArray[Any]], Any]) -> Any:
    """Change the columns of truth values, or of sets of ages."""
    if isinstance(value, ColumnBuffer):
        return type(value).from_columns(value.delta, [change(column) for column in value.to_columns()])
    return change(value)


def _choose_dtype(column: str | int, integer: type) -> type:
    """Return the type that a column is stored in."""
    match column:
        case "bool":
            return bool
        case "int":
            return integer
        case width:
            return np.int32 if int(width) < HALF_WORD_BITS else np.int64 if int(width) <= WORD_BITS else object
