"""Many tasks on a few processes: every outcome arrives once, whoever loops, dies, or runs out of memory."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fdverify.errors import InternalError, UsageError
from fdverify.workers.executor import Task, TaskOutcome
from fdverify.workers.pool import Pool
from tests.cli.processes import children, wait_until
from tests.sampling import every
from tests.workers.tasks import allocate, break_down, kill_oneself, loop_for_ever, misuse, square

AGES = 600.0
"""Longer than any test here may take."""
SHORT = 0.5


def exit_quietly() -> None:
    os._exit(0)


def fork_here() -> int:
    return 1 if os.fork() == 0 else 2


def die_and_leave_a_child() -> None:
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
    kill_oneself()


def touched(path: Path) -> str:
    path.touch()
    return path.name


class Heard:
    """Every outcome by its task's key; a key that is heard of twice is a failure."""

    def __init__(self) -> None:
        self.outcomes: dict[Any, TaskOutcome] = {}

    def __call__(self, task: Task, outcome: TaskOutcome) -> Iterable[Task]:
        assert task.key not in self.outcomes, "heard of twice"
        self.outcomes[task.key] = outcome
        return ()

    @property
    def values(self) -> dict[Any, Any]:
        return {key: outcome.value for key, outcome in self.outcomes.items() if outcome.lost is None}

    @property
    def lost(self) -> set[Any]:
        return {key for key, outcome in self.outcomes.items() if outcome.lost is not None}


def here() -> set[int]:
    """The processes that this one has started, a browser among them, perhaps."""
    return {process.pid for process in children(os.getpid())}


def ran(pool: Pool, tasks: Iterable[Task], deadline: float | None = None) -> Heard:
    """What came of the tasks; no process may be left after them."""
    before = here()
    heard = Heard()
    with pool:
        pool.run_tasks(tasks, heard, deadline)
    assert here() == before
    return heard


def squares(numbers: Iterable[int]) -> list[Task]:
    return [Task(number, partial(square, number)) for number in numbers]


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("backwards", [False, True])
def test_every_result_arrives(jobs: int, backwards: bool) -> None:
    numbers = list(range(40))
    heard = ran(Pool(jobs), squares(reversed(numbers) if backwards else numbers))
    assert heard.values == {number: number * number for number in numbers}
    assert all(outcome.error is None for outcome in heard.outcomes.values())


def test_nothing_to_do() -> None:
    assert ran(Pool(3), []).outcomes == {}


@pytest.mark.parametrize("jobs", [1, 3])
def test_tasks_that_bring_tasks(jobs: int) -> None:
    found: dict[int, int] = {}

    def finished(task: Task, outcome: TaskOutcome) -> list[Task]:
        found[task.key] = outcome.value
        return squares(k for k in (2 * task.key, 2 * task.key + 1) if k < 32)

    with Pool(jobs) as pool:
        pool.run_tasks(squares([1]), finished)
    assert found == {number: number * number for number in range(1, 32)}


def test_a_pool_runs_again() -> None:
    pool = Pool(2)
    assert ran(pool, squares(range(5))).values == ran(pool, squares(range(5))).values


def heard_in(pool: Pool, tasks: Iterable[Task], deadline: float | None = None) -> Heard:
    heard = Heard()
    pool.run_tasks(tasks, heard, deadline)
    return heard


def test_workers_stay_for_the_next_run() -> None:
    before = here()
    with Pool(1) as pool:
        first, second = (heard_in(pool, [Task("who", os.getpid)]).values["who"] for _ in range(2))
        assert first == second
    assert here() == before


def test_work_that_is_to_be_done_alone_has_a_process_of_its_own() -> None:
    tasks = [Task("before", os.getpid), *(Task(number, os.getpid, alone=True) for number in range(3))]
    with Pool(1) as pool:
        assert len(set(heard_in(pool, tasks).values.values())) == 4
        assert len(set(heard_in(pool, squares([1])).values)) == 1


def test_a_worker_killed_between_runs_is_replaced() -> None:
    with Pool(1) as pool:
        first = heard_in(pool, [Task("who", os.getpid)]).values["who"]
        os.kill(first, signal.SIGKILL)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        heard = heard_in(pool, squares(range(5)))
    assert heard.values == {number: number * number for number in range(5)}


def test_a_run_after_a_deadline_begins_afresh() -> None:
    """Nothing of what was given up is heard of later."""
    with Pool(1) as pool:
        lost = heard_in(pool, [Task(1, loop_for_ever), *squares([2, 3])], time.monotonic() + SHORT)
        assert lost.lost == {1, 2, 3}
        assert heard_in(pool, squares([4])).values == {4: 16}


def test_a_run_after_an_interrupted_one_begins_afresh() -> None:
    def interrupted(task: Task, outcome: TaskOutcome) -> list[Task]:
        raise KeyboardInterrupt

    with Pool(1) as pool:
        with pytest.raises(KeyboardInterrupt):
            pool.run_tasks(squares([2, 3]), interrupted)
        assert heard_in(pool, squares([4])).values == {4: 16}


def called(thing: Any) -> Any:
    return thing()


@pytest.mark.skipif(sys.platform != "linux", reason="only forked processes inherit what cannot be sent")
def test_what_is_inherited_need_not_be_sendable() -> None:
    secret = 12345
    thing = lambda: secret  # noqa: E731 - what cannot be pickled
    with Pool(2, inherited=[thing]) as pool:
        heard = heard_in(pool, [Task(number, partial(called, thing)) for number in range(4)])
    assert heard.values == dict.fromkeys(range(4), secret)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("patience", every(2, [0.05, 60.0]))
def test_a_task_that_loops_is_stopped_and_others_finish(jobs: int, patience: float) -> None:
    endless = Task("endless", loop_for_ever, limit=SHORT, patience=patience)
    heard = ran(Pool(jobs), [endless, *squares(range(20))])
    assert heard.lost == {"endless"}
    assert heard.values == {number: number * number for number in range(20)}


def test_others_finish_while_a_task_loops_without_a_limit() -> None:
    """One worker: the endless task is put aside again and again, and everything else is done meanwhile."""
    before = here()
    tasks = [Task("endless", loop_for_ever, patience=0.05), *squares(range(10))]
    others: set[int] = set()

    class Enough(Exception):
        pass

    def finished(task: Task, outcome: TaskOutcome) -> list[Task]:
        others.add(task.key)
        if len(others) == 10:
            raise Enough
        return []

    with pytest.raises(Enough):
        Pool(1).run_tasks(tasks, finished)
    assert others == set(range(10))
    assert here() == before


def test_a_task_within_its_limit_is_not_stopped() -> None:
    heard = ran(Pool(2), [Task(number, partial(square, number), limit=AGES) for number in range(5)])
    assert heard.lost == set()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("end", [kill_oneself, exit_quietly])
def test_a_worker_that_dies_loses_its_task_alone(jobs: int, end: Any) -> None:
    tasks = squares(range(10))
    for place in (0, 5, 12):
        tasks.insert(place, Task(f"dies {place}", end))
    heard = ran(Pool(jobs), tasks)
    assert heard.lost == {"dies 0", "dies 5", "dies 12"}
    assert heard.values == {number: number * number for number in range(10)}
    assert all("died" in str(heard.outcomes[key].lost) for key in heard.lost)
    assert all(heard.outcomes[key].value is None for key in heard.lost)


def test_work_that_forks_answers_once() -> None:
    heard = ran(Pool(1), [Task("forks", fork_here), *squares(range(10))])
    assert heard.values == {"forks": 2} | {number: number * number for number in range(10)}


def test_errors_come_back() -> None:
    heard = ran(Pool(2), [Task("misuse", misuse), Task("breaks", break_down), *squares(range(3))])
    assert heard.lost == set()
    error = heard.outcomes["misuse"].error
    assert isinstance(error, UsageError)
    assert (error.message, error.hint) == ("no such thing", "try another")
    unexpected = heard.outcomes["breaks"].error
    assert isinstance(unexpected, InternalError)
    assert unexpected.message.startswith("KeyError")
    assert "\n" not in unexpected.message
    assert heard.outcomes["misuse"].value is heard.outcomes["breaks"].value is None
    assert [heard.outcomes[number].value for number in range(3)] == [0, 1, 4]


def test_a_deadline_that_has_passed_loses_every_task_once() -> None:
    heard = ran(Pool(2), squares(range(20)), time.monotonic() - 1)
    assert heard.lost == set(range(20))


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_a_deadline_ends_everything(jobs: int) -> None:
    """Those that run and those that wait: each is heard of once, none has a value."""
    tasks = [Task(number, loop_for_ever) for number in range(6)]
    heard = ran(Pool(jobs), tasks, time.monotonic() + SHORT)
    assert heard.lost == set(range(6))
    assert all(outcome.value is None and outcome.error is None for outcome in heard.outcomes.values())


def test_tasks_brought_after_the_deadline_are_lost_too() -> None:
    heard: list[int] = []

    def finished(task: Task, outcome: TaskOutcome) -> list[Task]:
        assert outcome.lost is not None
        heard.append(task.key)
        return squares([task.key + 10]) if task.key < 10 else []

    Pool(2).run_tasks(squares(range(3)), finished, time.monotonic() - 1)
    assert sorted(heard) == [0, 1, 2, 10, 11, 12]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_task_that_takes_too_much_memory_is_lost_alone(jobs: int) -> None:
    tasks = [Task("modest", partial(allocate, 8)), Task("greedy", partial(allocate, 16_000)), *squares(range(6))]
    heard = ran(Pool(jobs, memory_limit=4_000), tasks)
    assert heard.lost == {"greedy"}
    assert "out of memory" in str(heard.outcomes["greedy"].lost)
    assert heard.values["modest"] == 8 * 1024 * 1024
    assert {key: heard.values[key] for key in range(6)} == {number: number * number for number in range(6)}


def test_an_error_of_the_listener_leaves_no_process(tmp_path: Path) -> None:
    """Whatever ends the run, the tasks that are still running end with it."""
    before = here()
    started = tmp_path / "started"

    def fails(task: Task, outcome: TaskOutcome) -> list[Task]:
        assert wait_until(started.exists, seconds=AGES)
        raise ValueError("heard enough")

    with pytest.raises(ValueError, match="heard enough"):
        Pool(2).run_tasks([Task("endless", partial(loop_for_ever, started)), *squares(range(3))], fails)
    assert here() == before


def test_a_death_is_noticed_though_a_child_lives_on() -> None:
    start = time.monotonic()
    assert ran(Pool(1), [Task("dies", die_and_leave_a_child)]).lost == {"dies"}
    assert time.monotonic() - start < 15


def test_tasks_run_in_other_processes() -> None:
    heard = ran(Pool(2), [Task(number, os.getpid) for number in range(8)])
    assert os.getpid() not in heard.values.values()
    assert 1 <= len(set(heard.values.values())) <= 2


def test_work_is_done_once(tmp_path: Path) -> None:
    heard = ran(Pool(3), [Task(name, partial(touched, tmp_path / name)) for name in "abc"])
    assert heard.values == {name: name for name in "abc"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]
