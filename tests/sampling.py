"""What `make test` leaves to `make test-full` because it takes long; of many cases it tries at least one in twenty."""

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest

FULL = os.environ.get("FDVERIFY_TESTS") == "full"

long = pytest.mark.skipif(not FULL, reason="takes long: make test-full runs it")

Item = TypeVar("Item")


def every(step: int, items: Iterable[Item]) -> list[Item]:
    """All of them in a full run, else one in so many, always the same ones."""
    return list(items)[:: 1 if FULL else step]
