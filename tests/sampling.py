"""What `make test` leaves to `make test-full` because it takes long."""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

FULL = os.environ.get("FDVERIFY_TESTS") == "full"

long = pytest.mark.skipif(not FULL, reason="takes long: make test-full runs it")

Item = TypeVar("Item")


def every(step: int, items: Sequence[Item]) -> Sequence[Item]:
    """All of them in a full run, else one in so many, always the same ones."""
    return items if FULL else items[::step]
