"""Flows run their tasks in the order in which they read, side by side where they say so, and each to its own end."""

import time
from collections.abc import Callable
from functools import partial

import pytest

from fdverify.errors import UsageError
from fdverify.workers.pool import Pool
from fdverify.workers.task_flow import Flow, FlowEnded, run_flows, run_task, run_together


def square(number: int) -> int:
    return number * number


def loop_for_ever() -> None:
    while True:
        time.sleep(0.01)


def refuse() -> None:
    raise UsageError("no")


class Log:
    """Flows that write down what they come by."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def take_steps(self, name: str, numbers: list[int]) -> None:
        for number in numbers:
            outcome = await run_task(partial(square, number))
            self.lines.append(f"{name} {outcome.value}")

    async def take_parts(self, *parts: Flow) -> None:
        self.lines.append("before")
        await run_together(parts)
        self.lines.append("after")

    async def end_early(self) -> None:
        outcome = await run_task(refuse)
        self.lines.append(str(outcome.error))
        raise FlowEnded

    async def do_nothing(self) -> None:
        self.lines.append("nothing")


def run(*flows: Flow, jobs: int = 2, deadline: float | None = None) -> int:
    """Run the flows, and return the number of outcomes."""
    outcomes: list[None] = []
    with Pool(jobs) as pool:
        run_flows(pool, flows, deadline, lambda: outcomes.append(None))
    return len(outcomes)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_flow_goes_on_when_its_task_has_ended(jobs: int) -> None:
    log = Log()
    assert run(log.take_steps("a", [1, 2, 3]), jobs=jobs) == 3
    assert log.lines == ["a 1", "a 4", "a 9"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_parts_run_side_by_side_and_the_rest_waits_for_all(jobs: int) -> None:
    log = Log()
    inner = log.take_parts(log.take_steps("b", [4]), log.do_nothing())
    assert run(log.take_parts(log.take_steps("a", [1, 2]), inner), jobs=jobs) == 3
    assert log.lines[0] == "before"
    assert log.lines[-1] == "after"
    assert sorted(log.lines) == ["a 1", "a 4", "after", "after", "b 16", "before", "before", "nothing"]
    assert log.lines.index("a 1") < log.lines.index("a 4")


def test_a_flow_without_tasks_ends_at_once() -> None:
    log = Log()
    assert run(log.take_parts(), log.take_parts(log.do_nothing(), log.do_nothing()), log.do_nothing()) == 0
    assert log.lines == ["before", "after", "before", "nothing", "nothing", "after", "nothing"]


def test_a_part_that_ends_early_does_not_end_the_others() -> None:
    log = Log()
    run(log.take_parts(log.end_early(), log.take_steps("a", [1, 2])))
    assert sorted(log.lines) == ["a 1", "a 4", "after", "before", "no"]
    assert log.lines[-1] == "after"


def test_after_the_deadline_every_flow_goes_to_its_end_without_a_value() -> None:
    log = Log()
    flow = log.take_parts(log.take_steps("a", [1, 2]), log.take_steps("b", [3]))
    assert run(flow, deadline=time.monotonic() - 1) == 3
    assert sorted(log.lines) == ["a None", "a None", "after", "b None", "before"]


def wait_and_add(number: int, loaded: int) -> int:
    time.sleep(0.5)
    return number + loaded


def test_the_limit_is_for_the_loading_alone() -> None:
    outcomes = []

    async def load_and_add(loading: Callable[[], int | None]) -> None:
        outcomes.append(await run_task(partial(wait_and_add, 1), limit=0.2, loading=loading))

    run(load_and_add(loop_for_ever), load_and_add(partial(square, 3)))
    lost, added = sorted(outcomes, key=lambda outcome: outcome.value or 0)
    assert (lost.lost, lost.overlong, lost.was_loading) == ("stopped after 0.2 s", True, True)
    assert (added.value, added.lost, added.overlong) == (10, None, False)


def test_a_loading_that_fails_is_an_error_of_its_task() -> None:
    log = Log()

    async def load_and_report() -> None:
        outcome = await run_task(square, loading=refuse)
        log.lines.append(f"{outcome.error} {outcome.value}")

    run(load_and_report())
    assert log.lines == ["no None"]
