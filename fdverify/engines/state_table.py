"""A set of states, each packed into one integer, in sorted arrays.

A column gets as many bits as the values seen so far need.  When a value does not fit, all states are packed again.
States that need more than 62 bits are packed into Python integers, which is slower but as exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = list[NDArray[Any]]
"""A batch of states: one array for each column, all of the same length."""

WORD_BITS = 62


@dataclass(frozen=True)
class Packing:
    """How states are packed: the lowest value and the number of bits of each column."""

    lows: tuple[int, ...]
    widths: tuple[int, ...]

    @property
    def dtype(self) -> type:
        return np.int64 if sum(self.widths) <= WORD_BITS else object

    def can_pack(self, rows: Rows) -> bool:
        return all(
            low <= column.min() and column.max() < low + (1 << width)
            for low, width, column in zip(self.lows, self.widths, rows, strict=True)
        )

    def widen(self, rows: Rows) -> Packing:
        lows, widths = [], []
        for low, width, column in zip(self.lows, self.widths, rows, strict=True):
            lowest = min(low, int(column.min()))
            highest = max(low + (1 << width) - 1, int(column.max()))
            lows.append(lowest)
            widths.append((highest - lowest).bit_length())
        return Packing(tuple(lows), tuple(widths))

    def pack(self, rows: Rows) -> NDArray[Any]:
        keys: NDArray[Any] = np.zeros(len(rows[0]), dtype=self.dtype)
        for low, width, column in zip(self.lows, self.widths, rows, strict=True):
            # Subtract first: large numbers may still lie in a narrow range.
            keys = (keys << width) | (column - low).astype(self.dtype)
        return keys

    def unpack(self, keys: NDArray[Any], kinds: Sequence[type]) -> Rows:
        rows: Rows = []
        for low, width, kind in zip(self.lows[::-1], self.widths[::-1], kinds[::-1], strict=True):
            part = keys & ((1 << width) - 1)
            rows.append((part.astype(object if kind is object else np.int64) + low).astype(kind))
            keys = keys >> width
        return rows[::-1]


class StateTable:
    """A set of states that tells which of the states added to it are new."""

    def __init__(self, kinds: Sequence[type]) -> None:
        self._kinds = kinds
        self._packing: Packing | None = None
        # Sorted runs, each more than twice as long as the next: a look-up searches few, an insertion copies little.
        self._runs: list[NDArray[Any]] = []
        self.size = 0

    def add(self, rows: Rows) -> NDArray[Any]:
        """Add these states; return the position of each distinct new one, in the order of their keys."""
        if len(rows[0]) == 0:
            return np.zeros(0, dtype=np.int64)
        keys, first = np.unique(self._pack_rows(rows), return_index=True)
        new = np.ones(len(keys), dtype=bool)
        for run in self._runs:
            positions = np.searchsorted(run, keys)
            positions[positions == len(run)] = 0
            new &= run[positions] != keys
        self._insert_keys(keys[new])
        return first[new]

    def _pack_rows(self, rows: Rows) -> NDArray[Any]:
        packing = self._packing or Packing(tuple(int(c.min()) for c in rows), (0,) * len(rows))
        if not packing.can_pack(rows):
            packing = packing.widen(rows)
        if self._packing is not None and packing is not self._packing:
            old = self._packing
            self._runs = [np.sort(packing.pack(old.unpack(run, self._kinds))) for run in self._runs]
        self._packing = packing
        return packing.pack(rows)

    def _insert_keys(self, keys: NDArray[Any]) -> None:
        if len(keys) == 0:
            return
        self.size += len(keys)
        self._runs.append(keys)
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            self._runs[-2:] = [np.sort(np.concatenate(self._runs[-2:]), kind="stable")]
