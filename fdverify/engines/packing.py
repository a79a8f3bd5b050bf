"""Packing: a state becomes one integer, its key, and a batch of states an array of keys.

A column gets as many bits as the values seen so far need.  Keys are machine integers if their bits fit, else Python's
integers, which are slower but as exact.  The order of keys is that of the states, column by column, whatever the
widths are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = list[NDArray[Any]]
"""A batch of states: one array for each column, all of the same length."""

Keys = NDArray[Any]
"""Packed states."""

WORD_BITS = 62
HALF_WORD_BITS = 30
"""The sizes of values that machine integers hold, with room for the sign and for one sum or difference."""


@dataclass(frozen=True)
class Packing:
    """How states are packed: the lowest value and the number of bits of each column."""

    lows: tuple[int, ...]
    widths: tuple[int, ...]

    @cached_property
    def dtype(self) -> type:
        bits = sum(self.widths)
        return np.int32 if bits < 32 else np.int64 if bits <= WORD_BITS else object

    @cached_property
    def highs(self) -> tuple[int, ...]:
        """The highest value of each column that can be packed."""
        return tuple(low + (1 << width) - 1 for low, width in zip(self.lows, self.widths, strict=True))

    def fit(self, rows: Rows) -> Packing:
        """Return this packing if it can pack the rows, else one that can pack them and all that this one can."""
        if len(rows[0]) == 0:
            return self
        lows = tuple(min(low, int(column.min())) for low, column in zip(self.lows, rows, strict=True))
        highs = tuple(max(high, int(column.max())) for high, column in zip(self.highs, rows, strict=True))
        if lows == self.lows and highs == self.highs:
            return self
        return Packing(lows, tuple((high - low).bit_length() for low, high in zip(lows, highs, strict=True)))

    def pack(self, rows: Rows) -> Keys:
        keys: Keys = np.zeros(len(rows[0]), dtype=self.dtype)
        for low, width, column in zip(self.lows, self.widths, rows, strict=True):
            if width > 0:
                keys <<= width
                # Subtract first: large numbers may still lie in a narrow range.
                keys |= (column - low if low else column).astype(self.dtype, copy=False)
        return keys

    def unpack(self, keys: Keys, kinds: Sequence[type]) -> Rows:
        rows: Rows = []
        shift = sum(self.widths)
        for low, width, kind in zip(self.lows, self.widths, kinds, strict=True):
            shift -= width
            if width == 0:
                rows.append(np.full(len(keys), low, dtype=kind))
                continue
            part = (keys >> shift) & ((1 << width) - 1)
            # Widen first: the value may need more bits than its distance from the lowest one.
            rows.append((part.astype(_choose_wider(part.dtype, kind), copy=False) + low).astype(kind, copy=False))
        return rows

    def repack(self, keys: Keys, old: Packing) -> Keys:
        """Pack again what another packing has packed."""
        if old == self:
            return keys
        # Values may be too large for the machine's integers, although their keys are not.
        kinds = [
            np.int64 if max(-low, high) < 1 << WORD_BITS else object
            for low, high in zip(self.lows, self.highs, strict=True)
        ]
        return self.pack(old.unpack(keys, kinds))


def _choose_wider(part: np.dtype[Any], kind: type) -> Any:
    return part if kind is bool else np.promote_types(part, kind)


def start_packing(rows: Rows) -> Packing:
    """Return the narrowest packing of these rows."""
    lows = tuple(int(column[0]) if len(column) else 0 for column in rows)
    return Packing(lows, (0,) * len(rows)).fit(rows)


@dataclass(frozen=True)
class PackedStates:
    """Some states, packed."""

    packing: Packing
    keys: Keys

    def __len__(self) -> int:
        return len(self.keys)

    def unpack(self, kinds: Sequence[type]) -> Rows:
        return self.packing.unpack(self.keys, kinds)


def join_states(parts: Sequence[PackedStates]) -> PackedStates:
    """Join states that were packed by ever wider packings, in their order."""
    packing = parts[-1].packing
    keys = [packing.repack(part.keys, part.packing) for part in parts]
    return PackedStates(packing, np.sort(np.concatenate(keys)) if len(keys) > 1 else keys[0])
