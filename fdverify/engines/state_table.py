"""A set of states, each packed into one integer."""

from __future__ import annotations

import numpy as np

from fdverify.engines.key_set import build_key_set
from fdverify.engines.packing import Keys, PackedStates, Packing, Rows, start_packing


class StateTable:
    """A set of states that tells which of the states added to it are new."""

    def __init__(self) -> None:
        self._packing: Packing | None = None
        self._keys = build_key_set(np.int32)

    @property
    def size(self) -> int:
        return self._keys.size

    def add(self, rows: Rows) -> PackedStates:
        """Add these states; return the new ones, each once, in the order of their keys."""
        packing = self._fit_packing(rows)
        keys = _sort_distinct(packing.pack(rows))
        return PackedStates(packing, keys.take(self._keys.add(keys)))

    def _fit_packing(self, rows: Rows) -> Packing:
        """Return a packing for all states so far and these; if it is a new one, pack all states again."""
        old = self._packing
        packing = start_packing(rows) if old is None else old.fit(rows)
        if packing is not old:
            before = self._keys
            self._keys = build_key_set(packing.dtype)
            if old is not None:
                for keys in before.list_keys():
                    self._keys.add(packing.repack(keys, old))
            self._packing = packing
        return packing


def _sort_distinct(keys: Keys) -> Keys:
    keys = np.sort(keys)
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys.take(first.nonzero()[0])
