"""Every test keeps out of the user's folders, and runs as the switch of the samples says."""

import pytest

from fdverify.workers.garbage import pass_over_inherited_objects, search_garbage_rarely
from tests.isolation import keep_out_of_home
from tests.sampling import choose, set_up_hypothesis
from tests.worker_coverage import save_before_kill


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect in a sample what is marked ``slow``."""
    slow = choose(full=[], sample=[item for item in items if item.get_closest_marker("slow")])
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_collection_finish() -> None:
    """Leave what is there by now alone: looking through it again and again takes a tenth of the time."""
    pass_over_inherited_objects()
    search_garbage_rarely()


keep_out_of_home()
set_up_hypothesis()
save_before_kill()
