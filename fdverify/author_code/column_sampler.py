"""Reproducible random columns; numpy's own generators take longer to import than all that is drawn here."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ColumnSampler:
    """A source of random columns with a fixed seed."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def _draw_words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(self._source.randbytes(8 * count), dtype=np.uint64)

    def draw_numbers(self, below: int, count: int) -> NDArray[np.int64]:
        """Draw ``count`` numbers from 0 up to, but not including, ``below``."""
        return (self._draw_words(count) % np.uint64(below)).astype(np.int64)

    def draw_values(self, values: NDArray[Any], count: int) -> NDArray[Any]:
        """Draw ``count`` of the values, with repetition."""
        return values[self.draw_numbers(len(values), count)]

    def draw_truths(self, rows: int, columns: int) -> NDArray[np.bool_]:
        return np.asarray(self.draw_numbers(2, rows * columns) == 1).reshape(rows, columns)

    def shuffle_indexes(self, count: int) -> NDArray[np.int64]:
        """Return the numbers below ``count`` in random order."""
        return np.argsort(self._draw_words(count), kind="stable")

    def choose_indexes(self, count: int, most: int) -> NDArray[np.int64]:
        """Choose at most ``most`` of the numbers below ``count``, in increasing order."""
        return np.arange(count) if count <= most else np.sort(self.shuffle_indexes(count)[:most])
