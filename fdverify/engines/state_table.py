"""A set of states, each packed into one integer: a set of keys in memory and, beyond a limit, sorted runs in files."""

from __future__ import annotations

import numpy as np

from fdverify.engines.key_file import merge_runs, split_keys, store_run
from fdverify.engines.key_set import MachineKeySet, PythonKeySet, build_key_set
from fdverify.engines.packing import Keys, PackedStates, Packing, Rows, start_packing


class StateTable:
    """A set of states that tells which of the states added to it are new.

    It takes about ``memory_limit`` bytes of memory, except where keys are Python's integers.
    """

    def __init__(self, memory_limit: int | None = None) -> None:
        self._memory_limit = memory_limit
        self._packing: Packing | None = None
        self._keys: MachineKeySet | PythonKeySet = MachineKeySet(np.int32)
        # Each run is more than twice as long as the next: a look-up searches few, and a merge copies little.
        self._runs: list[Keys] = []

    @property
    def size(self) -> int:
        return self._keys.size + sum(len(run) for run in self._runs)

    def add(self, rows: Rows) -> PackedStates:
        """Add these states; return the new ones, each once, in the order of their keys."""
        packing = self._fit_packing(rows)
        keys = _sort_distinct(packing.pack(rows))
        self._move_to_file(packing, len(keys))
        for run in self._runs:
            keys = _remove_known(keys, run)
        return PackedStates(packing, keys.take(self._keys.add(keys)))

    def _fit_packing(self, rows: Rows) -> Packing:
        """Return a packing for all states so far and these; if it is a new one, pack all states again."""
        old = self._packing
        packing = start_packing(rows) if old is None else old.fit(rows)
        if packing is not old:
            before = self._keys
            self._keys = build_key_set(packing.dtype)
            self._packing = packing
            if old is not None:
                for keys in before.list_keys():
                    self._keys.add(packing.repack(keys, old))
                self._runs = [self._repack_run(run, old, packing) for run in self._runs]
        return packing

    def _repack_run(self, run: Keys, old: Packing, packing: Packing) -> Keys:
        """Pack a run again; the order of its keys stays the same."""
        chunks = (packing.repack(keys, old) for keys in split_keys(run))
        return np.concatenate(list(chunks)) if packing.dtype is object else store_run(chunks, packing.dtype)

    def _move_to_file(self, packing: Packing, more: int) -> None:
        """Move the keys in memory to a file if they would take too much memory together with so many more."""
        if self._memory_limit is None or isinstance(self._keys, PythonKeySet) or self._keys.size == 0:
            return
        if self._keys.count_bytes(more) <= self._memory_limit:
            return
        keys = np.sort(np.concatenate(list(self._keys.list_keys())))
        self._keys = MachineKeySet(packing.dtype)
        self._runs.append(store_run([keys], packing.dtype))
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            self._runs[-2:] = [store_run(merge_runs(*self._runs[-2:]), packing.dtype)]


def _sort_distinct(keys: Keys) -> Keys:
    keys = np.sort(keys)
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys.take(first.nonzero()[0])


def _remove_known(keys: Keys, run: Keys) -> Keys:
    """Remove the keys that a sorted run has."""
    positions = np.searchsorted(run, keys)
    positions[positions == len(run)] = 0
    unknown: Keys = keys.take((run.take(positions) != keys).nonzero()[0])
    return unknown
