"""Python's search for cyclic garbage, which looks at the objects of all imported modules again and again."""

from __future__ import annotations

import gc

_THRESHOLDS = (100_000, 20, 100)


def search_garbage_rarely() -> None:
    """Search for cyclic garbage only after many new objects; there is little of it here."""
    gc.set_threshold(*_THRESHOLDS)


def pass_over_inherited_objects() -> None:
    """Leave the objects of the process that forked this one alone: looking at a page of them would copy it."""
    gc.freeze()
