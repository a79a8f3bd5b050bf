"""How many random examples a test tries: all of them (``full``), or one in twenty (``sample``).

Both profiles try the same examples every time, and neither lets the machine's speed decide whether a test passes.
"""

import gc
import os

from hypothesis import HealthCheck, settings

from tests.isolation import keep_out_of_home

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


def pytest_collection_finish() -> None:
    """Leave what is there by now alone: looking through it again and again takes a twentieth of the time."""
    gc.freeze()


keep_out_of_home()
register("full", FULL)
register("sample", FULL // 20)
settings.load_profile(os.environ.get("FDVERIFY_TESTS", "sample"))
