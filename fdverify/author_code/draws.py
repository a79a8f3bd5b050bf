"""Random columns, the same each time; numpy's own generators take longer to import than all that is drawn here."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Draws:
    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def _words(self, number: int) -> NDArray[np.uint64]:
        return np.frombuffer(self._source.randbytes(8 * number), dtype=np.uint64)

    def numbers(self, below: int, number: int) -> NDArray[np.int64]:
        """So many numbers from 0 on."""
        return (self._words(number) % np.uint64(below)).astype(np.int64)

    def picked(self, values: NDArray[Any], number: int) -> NDArray[Any]:
        """So many of the values."""
        return values[self.numbers(len(values), number)]

    def truths(self, rows: int, columns: int) -> NDArray[np.bool_]:
        return np.asarray(self.numbers(2, rows * columns) == 1).reshape(rows, columns)

    def order(self, number: int) -> NDArray[np.int64]:
        """The first so many numbers in any order."""
        return np.argsort(self._words(number), kind="stable")

    def some(self, number: int, most: int) -> NDArray[np.int64]:
        """At most so many of the first numbers, in their order."""
        return np.arange(number) if number <= most else np.sort(self.order(number)[:most])
