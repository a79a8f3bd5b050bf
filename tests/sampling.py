"""What a run tries: everything in a full run, and in a sample at least one in twenty of many cases.

``FDVERIFY_TESTS`` is the one switch: ``sample``, which is the default, or ``full``.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

_CHOSEN = os.environ.get("FDVERIFY_TESTS", "sample")
_EXAMPLES = {"full": 2000, "sample": 100}

Item = TypeVar("Item")


def choose(*, full: Item, sample: Item) -> Item:
    """Return the first in a full run and the second in a sample, such as two numbers of repetitions."""
    return full if _CHOSEN == "full" else sample


def every(step: int, items: Iterable[Item]) -> list[Item]:
    """Return all items in a full run, and one in ``step`` in a sample, always the same ones."""
    return list(items)[:: choose(full=1, sample=step)]


def set_up_hypothesis() -> None:
    """Set how many random examples there are.  They are the same every time, however fast the machine is."""
    from hypothesis import HealthCheck, settings  # not every process that has samples needs it

    for name, examples in _EXAMPLES.items():
        settings.register_profile(
            name,
            max_examples=examples,
            derandomize=True,
            deadline=None,
            print_blob=True,
            suppress_health_check=(HealthCheck.too_slow,),
        )
    settings.load_profile(_CHOSEN)
