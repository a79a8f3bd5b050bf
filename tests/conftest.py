"""How many random examples a test tries: all of them (``full``), or one in twenty (``sample``).

Both profiles try the same examples every time, and neither lets the machine's speed decide whether a test passes.
"""

import os
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings

from tests.sampling import every

FULL = 2000


def register(name: str, examples: int) -> None:
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=True,
        deadline=None,
        print_blob=True,
        suppress_health_check=(HealthCheck.too_slow,),
    )


register("full", FULL)
register("sample", FULL // 20)
settings.load_profile(os.environ.get("FDVERIFY_TESTS", "sample"))

REFUSALS = ("refuse", "bad_", "one_line", "no_names", "cannot_be")
MANY = 6
"""Of tests so named that have so many cases, each a process, a sample has every third."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    left_out = [
        item
        for test, some in cases.items()
        if len(some) >= MANY and any(word in test.rpartition("::")[2] for word in REFUSALS)
        for item in some
        if item not in every(3, some)
    ]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)
