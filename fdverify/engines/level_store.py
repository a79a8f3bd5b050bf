"""The levels of an exploration: packed states in memory, and beyond a limit in a file."""

from __future__ import annotations

from dataclasses import dataclass

from fdverify.engines.key_file import KeyFile
from fdverify.engines.packing import PackedStates, Packing


@dataclass(frozen=True)
class _StoredLevel:
    """The place of a level in the file."""

    packing: Packing
    start: int


class LevelStore:
    """The levels so far.

    They take at most ``memory_limit`` bytes of memory, except where keys are Python's integers.
    """

    def __init__(self, memory_limit: int | None) -> None:
        self._memory_limit = memory_limit
        self._levels: list[PackedStates | _StoredLevel] = []
        self.sizes: list[int] = []
        """The number of states in each level."""
        self._stored = 0
        self._in_memory = 0
        self._file: KeyFile | None = None

    def __len__(self) -> int:
        return len(self._levels)

    def append(self, level: PackedStates) -> None:
        self._levels.append(level)
        self.sizes.append(len(level))
        self._in_memory += level.keys.nbytes
        if self._memory_limit is not None and self._in_memory > self._memory_limit:
            self._levels[self._stored :] = [self._store_level(each) for each in self._levels[self._stored :]]
            self._stored, self._in_memory = len(self._levels), 0

    def read(self, level: int, start: int, end: int) -> PackedStates:
        """Return the states of a level from one position to another."""
        states = self._levels[level]
        if isinstance(states, PackedStates):
            return PackedStates(states.packing, states.keys[start:end])
        assert self._file is not None, "a level is stored in it"
        keys = self._file.read(states.start, start, min(end, self.sizes[level]), states.packing.dtype)
        return PackedStates(states.packing, keys)

    def _store_level(self, level: PackedStates | _StoredLevel) -> PackedStates | _StoredLevel:
        if isinstance(level, _StoredLevel) or level.packing.dtype is object:
            return level
        self._file = self._file or KeyFile()
        return _StoredLevel(level.packing, self._file.append(level.keys))
