"""Sets of keys: a hash table of machine integers that is searched for many keys at once, or a set of Python's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fdverify.engines.packing import Keys

_EMPTY = -1
_LEAST_SLOTS = 1 << 8
_BATCH = 1 << 16
_MIXERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))
"""Odd factors; their products with a key spread its bits over the word."""


class MachineKeySet:
    """A set of natural numbers in an array, each in the first free slot of its probe sequence."""

    def __init__(self, dtype: type) -> None:
        self._slots: Keys = np.full(_LEAST_SLOTS, _EMPTY, dtype=dtype)
        self.size = 0

    def add(self, keys: Keys) -> NDArray[np.intp]:
        """Add distinct keys; return the positions of the new ones, in their order."""
        self._reserve(len(keys))
        new = np.zeros(len(keys), dtype=bool)
        slots, positions = self._find_first_slots(keys), np.arange(len(keys))
        step = 0
        while len(positions) > 0:
            found = self._slots.take(slots)
            free = (found == _EMPTY).nonzero()[0]
            wanted = keys.take(free)
            # If several keys want a free slot, the last one gets it, and the others go on.
            self._slots[slots.take(free)] = wanted
            found[free] = self._slots.take(slots.take(free))
            new[positions.take(free)] = found.take(free) == wanted
            left = (found != keys).nonzero()[0]
            step += 1
            keys, positions = keys.take(left), positions.take(left)
            slots = (slots.take(left) + step) & (len(self._slots) - 1)
        added = new.nonzero()[0]
        self.size += len(added)
        return added

    def list_keys(self) -> Iterator[Keys]:
        """List all keys, in batches; later additions are not listed."""
        return _list_occupied(self._slots)

    def count_bytes(self, more: int) -> int:
        """Count the bytes of memory that the keys take together with so many more."""
        return self._count_slots(more) * self._slots.itemsize

    def _count_slots(self, more: int) -> int:
        """Count the slots needed: at most five in eight are in use, so that probe sequences stay short."""
        return max(len(self._slots), 1 << (8 * (self.size + more) // 5).bit_length())

    def _reserve(self, more: int) -> None:
        """Make room for more keys."""
        slots = self._count_slots(more)
        if slots == len(self._slots):
            return
        before = self._slots
        self._slots = np.full(slots, _EMPTY, dtype=before.dtype)
        self.size = 0
        for keys in _list_occupied(before):
            self.add(keys)

    def _find_first_slots(self, keys: Keys) -> NDArray[np.intp]:
        mixed = keys.astype(np.uint64) * _MIXERS[0]
        mixed ^= mixed >> np.uint64(32)
        mixed *= _MIXERS[1]
        mixed >>= np.uint64(65 - len(self._slots).bit_length())
        return mixed.astype(np.intp)


def _list_occupied(slots: Keys) -> Iterator[Keys]:
    for start in range(0, len(slots), _BATCH):
        batch = slots[start : start + _BATCH]
        yield batch.take((batch != _EMPTY).nonzero()[0])


class PythonKeySet:
    """A set of Python's integers, with the same methods."""

    def __init__(self) -> None:
        self._keys: set[int] = set()

    @property
    def size(self) -> int:
        return len(self._keys)

    def add(self, keys: Keys) -> NDArray[np.intp]:
        new = [at for at, key in enumerate(keys.tolist()) if key not in self._keys]
        added = np.array(new, dtype=np.intp)
        self._keys.update(keys.take(added).tolist())
        return added

    def list_keys(self) -> Iterator[Keys]:
        yield np.array([*self._keys, None], dtype=object)[:-1]


def build_key_set(dtype: type) -> MachineKeySet | PythonKeySet:
    return PythonKeySet() if dtype is object else MachineKeySet(dtype)
