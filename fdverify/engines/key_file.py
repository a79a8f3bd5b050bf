"""Keys in temporary files: what does not fit into the memory that an exploration may use.

The files have no names, so the system removes them when the process ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import SEEK_END
from tempfile import TemporaryFile

import numpy as np

from fdverify.engines.packing import Keys

CHUNK = 1 << 18
"""How many keys of a file are in memory at a time."""


class KeyFile:
    """A file to which arrays of machine integers are appended."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (it is closed with this object)

    def append(self, keys: Keys) -> int:
        """Append keys; return where they begin."""
        begin = self._file.seek(0, SEEK_END)
        self._file.write(keys.tobytes())
        return begin

    def read(self, begin: int, start: int, end: int, dtype: type) -> Keys:
        """Read the keys from one position to another of those that begin there."""
        size = np.dtype(dtype).itemsize
        self._file.seek(begin + start * size)
        return np.frombuffer(self._file.read((end - start) * size), dtype=dtype, count=end - start)


def store_run(chunks: Iterable[Keys], dtype: type) -> Keys:
    """Write sorted keys to a new file; return them as an array that the system loads page by page."""
    with TemporaryFile() as file:
        for chunk in chunks:
            file.write(chunk.tobytes())
        file.flush()
        return np.asarray(np.memmap(file, dtype=dtype, mode="r"))


def split_keys(keys: Keys) -> Iterator[Keys]:
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]


def merge_runs(left: Keys, right: Keys) -> Iterator[Keys]:
    """Merge two sorted arrays, a chunk at a time."""
    while len(left) > 0 and len(right) > 0:
        # Nothing that comes later is less than the least of the last keys.
        last = min(left[:CHUNK][-1], right[:CHUNK][-1])
        ends = [int(np.searchsorted(part[:CHUNK], last, side="right")) for part in (left, right)]
        yield np.sort(np.concatenate([left[: ends[0]], right[: ends[1]]]))
        left, right = left[ends[0] :], right[ends[1] :]
    yield from split_keys(left)
    yield from split_keys(right)
