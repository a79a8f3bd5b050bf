"""Tasks on a Dask cluster come to the same as in local processes, and what fails there is lost or refused."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fdverify.errors import UsageError
from fdverify.workers import dask_cluster
from fdverify.workers.backends import ClusterAccess, WorkerSettings, open_executor
from fdverify.workers.dask_cluster import DaskCluster
from fdverify.workers.executor import Executor, Task, TaskOutcome
from fdverify.workers.pool import Pool
from fdverify.workers.software import describe_software, find_software_difference
from fdverify.workers.task_inputs import TaskInputs
from tests.cli.processes import wait_until
from tests.cluster import LONG_ENOUGH, ROOT, Cluster, has_ended, list_children, make_certificate, running_cluster
from tests.workers import tasks as work

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
SHORT = 0.5


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def ran(executor: Executor, tasks: Iterable[Task], beat: Callable[[], None] | None = None) -> dict[Any, TaskOutcome]:
    """What came of the tasks, by their keys; each is heard of once."""
    outcomes: dict[Any, TaskOutcome] = {}

    def record(task: Task, outcome: TaskOutcome) -> Iterable[Task]:
        assert task.key not in outcomes, "heard of twice"
        outcomes[task.key] = outcome
        return ()

    with executor:
        executor.run_tasks(tasks, record, beat=beat)
    return outcomes


TASKS = [
    Task("square", partial(work.square, 7)),
    Task("alone", partial(work.square, 8), alone=True),
    Task("loaded", work.add, 60.0, loading=partial(work.square, 3)),
    Task("misuse", work.misuse),
    Task("breaks", work.break_down),
    Task("bad loading", work.add, loading=work.misuse),
    Task("endless", work.loop_for_ever, SHORT),
    Task("endless loading", work.add, SHORT, loading=work.loop_for_ever),
    Task("dies", work.kill_oneself),
    Task("dies loading", work.add, loading=work.kill_oneself),
    Task("no value", work.return_lambda),
]


def shape(outcome: TaskOutcome) -> tuple[Any, ...]:
    """All of an outcome but the time, and where an unexpected error was raised."""
    error = None if outcome.error is None else (type(outcome.error), outcome.error.message.partition(" at ")[0])
    return outcome.value, error, outcome.lost, outcome.overlong, outcome.out_of_time, outcome.was_loading


def test_outcomes_are_those_of_local_processes(cluster: Cluster) -> None:
    far, near = ran(DaskCluster(cluster.access), TASKS), ran(Pool(2), TASKS)
    assert {key: shape(outcome) for key, outcome in far.items()} == {
        key: shape(outcome) for key, outcome in near.items()
    }
    assert (far["square"].value, far["loaded"].value) == (49, 10)
    assert far["endless"].overlong
    assert far["endless loading"].was_loading


def test_a_memory_limit_holds_there(cluster: Cluster) -> None:
    tasks = [Task("modest", partial(work.allocate, 8)), Task("greedy", partial(work.allocate, 16_000))]
    outcomes = ran(DaskCluster(cluster.access, memory_limit=4_000), tasks)
    assert outcomes["modest"].value == 8 * 1024 * 1024
    assert outcomes["greedy"].lost is not None


def test_outcomes_bring_further_tasks(cluster: Cluster) -> None:
    heard: dict[int, int] = {}

    def record(task: Task, outcome: TaskOutcome) -> list[Task]:
        heard[task.key] = outcome.value
        return [Task(task.key + 1, partial(work.square, task.key + 1))] if task.key < 3 else []

    DaskCluster(cluster.access).run_tasks([Task(1, partial(work.square, 1))], record)
    assert heard == {1: 1, 2: 4, 3: 9}


def test_a_task_reports_while_it_runs(cluster: Cluster) -> None:
    class Enough(Exception):
        pass

    def record(task: Task, event: Any) -> None:
        heard.append((task.key, event))

    def end_when_heard() -> None:
        if heard:
            raise Enough

    heard: list[tuple[Any, Any]] = []
    tasks = [Task("reports", work.report_for_ever, reports=True)]
    with pytest.raises(Enough):
        DaskCluster(cluster.access).run_tasks(tasks, lambda task, outcome: (), beat=end_when_heard, on_event=record)
    assert heard[0] == ("reports", "going on")


@pytest.mark.slow
def test_a_deadline_ends_what_is_under_way(cluster: Cluster, tmp_path: Path) -> None:
    started = tmp_path / "started"
    tasks = [Task(number, partial(work.loop_for_ever, started)) for number in range(4)]
    heard: list[Any] = []

    def record(task: Task, outcome: TaskOutcome) -> list[Task]:
        assert (outcome.value, outcome.out_of_time) == (None, True)
        heard.append(task.key)
        return [Task(task.key + 10, partial(work.square, 1))] if task.key < 10 else []

    DaskCluster(cluster.access).run_tasks(tasks, record, time.monotonic() + 8)
    assert sorted(heard) == [0, 1, 2, 3, 10, 11, 12, 13]
    assert wait_until(lambda: not cluster.list_interpreters(), LONG_ENOUGH)


def test_a_run_that_is_cancelled_ends_there(cluster: Cluster, tmp_path: Path) -> None:
    started = tmp_path / "started"

    class Cancelled(Exception):
        pass

    def cancel() -> None:
        if started.exists():
            raise Cancelled

    with pytest.raises(Cancelled):
        DaskCluster(cluster.access).run_tasks(
            [Task(0, partial(work.loop_for_ever, started))], lambda task, outcome: (), beat=cancel
        )
    assert wait_until(lambda: not cluster.list_interpreters(), LONG_ENOUGH)
    assert ran(DaskCluster(cluster.access), [Task(1, partial(work.square, 5))])[1].value == 25


def test_tasks_run_in_the_same_folder_if_there_is_one(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "random.py").write_text("raise RuntimeError('not the one of Python')\n")
    assert ran(DaskCluster(cluster.access), [Task(0, work.get_folder)])[0].value == str(tmp_path)


def test_no_key_is_passed_on(tmp_path: Path) -> None:
    with running_cluster(tmp_path, workers=1, env={"FDVERIFY_CACHE_KEY": "a secret of sixteen letters"}) as cluster:
        assert ran(DaskCluster(cluster.access), [Task(0, work.get_key)])[0].value is None


def test_a_worker_that_dies_is_replaced_by_another(tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    with running_cluster(tmp_path) as cluster:

        def kill_worker() -> None:
            lines = begun.read_text().splitlines() if begun.exists() else []
            if len(lines) == 1 and len(cluster.workers) == 2:
                (owner,) = [each for each in cluster.workers if int(lines[0]) in list_children(each)]
                cluster.workers.remove(owner)
                owner.kill()
                owner.wait()
            elif len(lines) == 2:
                go.touch()

        outcomes = ran(DaskCluster(cluster.access), [Task(0, partial(work.wait_for, begun, go))], kill_worker)
        first, second = map(int, begun.read_text().splitlines())
        assert outcomes[0].value == second
        assert wait_until(lambda: has_ended(first), LONG_ENOUGH), "a task ends with its worker"


@pytest.mark.slow
@pytest.mark.parametrize("dies", ["workers", "scheduler"])
def test_tasks_of_a_cluster_that_dies_are_lost(dies: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_WORKERLESS_SECONDS", SHORT)
    started = tmp_path / "started"
    with running_cluster(tmp_path, workers=1) as cluster:
        victims = cluster.workers if dies == "workers" else [cluster.scheduler]

        def kill() -> None:
            if started.exists():
                for victim in victims:
                    victim.kill()

        outcome = ran(DaskCluster(cluster.access), [Task(0, partial(work.loop_for_ever, started))], kill)[0]
        assert (outcome.value, outcome.error) == (None, None)
        known = {"workers": "the cluster has no workers left", "scheduler": "the connection to the cluster was lost"}
        assert outcome.lost == known[dies]


def write_other_sources(folder: Path) -> None:
    (folder / "fdverify" / "extra.py").write_text("")


def write_other_version(folder: Path) -> None:
    file = folder / "fdverify" / "__init__.py"
    file.write_text(file.read_text() + '\n__version__ = "0.0.1"\n')


def write_other_solver(folder: Path) -> None:
    shutil.rmtree(folder / "fdverify")
    information = folder / "z3_solver-1.2.3.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: z3-solver\nVersion: 1.2.3\n")


def write_other_python(folder: Path) -> None:
    shutil.rmtree(folder / "fdverify")
    (folder / "sitecustomize.py").write_text("import platform\nplatform.python_version = lambda: '3.99.0'\n")


def remove_package(folder: Path) -> None:
    (folder / "fdverify" / "__init__.py").write_text("raise ImportError('no fdverify here')\n")


def remove_module(folder: Path) -> None:
    (folder / "fdverify" / "workers" / "dask_cluster.py").unlink()


OTHERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "sources": (write_other_sources, "runs other sources of fdverify than this one"),
    "version": (write_other_version, "runs fdverify 0.0.1, and this one runs"),
    "solver": (write_other_solver, "runs Z3 1.2.3, and this one runs"),
    "Python": (write_other_python, "runs Python 3.99.0, and this one runs"),
    "no fdverify": (remove_package, "has no fdverify, or another one than this"),
    "a former fdverify": (remove_module, "has no fdverify, or another one than this"),
}


@pytest.mark.slow
@pytest.mark.parametrize("other", OTHERS)
def test_a_worker_with_another_version_is_refused(other: str, tmp_path: Path) -> None:
    change, message = OTHERS[other]
    there = tmp_path / "there"
    shutil.copytree(ROOT / "fdverify", there / "fdverify", ignore=shutil.ignore_patterns("__pycache__", "invariants"))
    change(there)
    (tmp_path / "cluster").mkdir()
    with (
        running_cluster(tmp_path / "cluster", workers=1, env={"PYTHONPATH": f"{there}{os.pathsep}{ROOT}"}) as cluster,
        pytest.raises(UsageError) as refusal,
    ):
        ran(DaskCluster(cluster.access), [Task(0, partial(work.square, 2))])
    assert message in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.slow
def test_a_scheduler_without_fdverify_is_refused(tmp_path: Path) -> None:
    """Dask's scheduler unpickles what it passes on."""
    (tmp_path / "fdverify").mkdir()
    remove_package(tmp_path)
    with (
        running_cluster(tmp_path, workers=1, scheduler_env={"PYTHONPATH": str(tmp_path)}) as cluster,
        pytest.raises(UsageError, match="the scheduler of the cluster has no fdverify, or another one than this"),
    ):
        ran(DaskCluster(cluster.access), [Task(0, partial(work.square, 2))])


def test_what_runs_there_is_what_runs_here() -> None:
    here = describe_software()
    assert find_software_difference(here, here) is None
    for name in here:
        assert find_software_difference({**here, name: "another"}, here) is not None
        assert find_software_difference({key: value for key, value in here.items() if key != name}, here) is not None


def test_a_file_that_is_another_one_there_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("VALUE = 1\n")
    assert ran(DaskCluster(cluster.access), [Task(0, partial(work.load, file))])[0].value == 1
    with pytest.raises(UsageError, match=r"mine\.py is not the file that is here"):
        ran(DaskCluster(cluster.access), [Task(0, partial(work.load_and_change, file))])


READING = {
    "data": "from pathlib import Path\nVALUE = (Path(__file__).parent / 'data.txt').read_text()\n",
    "variable": "import os\nVALUE = os.environ.get('MINE', 'not set')\n",
    "module": "try:\n    import helper\n    VALUE = 'there'\nexcept ImportError:\n    VALUE = 'missing'\n",
}


def test_a_variable_with_another_value_there_is_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(READING["variable"])
    task = Task(0, partial(work.load, tmp_path / "mine.py"))
    assert ran(DaskCluster(cluster.access), [task])[0].value == "not set"
    monkeypatch.setenv("MINE", "set")
    with pytest.raises(UsageError, match="the variable MINE has not the value that it has here"):
        ran(DaskCluster(cluster.access), [task])


def test_a_module_that_is_missing_there_is_noticed(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(READING["module"])
    task = Task(0, partial(work.load, tmp_path / "mine.py"))
    assert ran(DaskCluster(cluster.access), [task])[0].value == "missing"
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "helper.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "library")
    with pytest.raises(UsageError, match="the module helper, which is here, is missing"):
        ran(DaskCluster(cluster.access), [task])


def test_data_that_a_file_reads_is_compared(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(READING["data"])
    (tmp_path / "data.txt").write_text("one")
    task = Task(0, partial(work.load, tmp_path / "mine.py"))
    assert ran(DaskCluster(cluster.access), [task])[0].value == "one"
    read = TaskInputs({str(tmp_path / "data.txt"): "the digest of something else"})
    assert read.find_difference() == f"{tmp_path / 'data.txt'} is not the file that is here"


@pytest.mark.slow
def test_tls(tmp_path: Path) -> None:
    """A scheduler that requires TLS takes those whose certificate it knows, and nobody else."""
    mine, theirs = make_certificate(tmp_path, "mine"), make_certificate(tmp_path, "theirs")
    with running_cluster(tmp_path, workers=1, tls=mine) as cluster:
        assert cluster.address.startswith("tls://")
        bare = cluster.address.removeprefix("tls://")
        for address in (cluster.address, bare):
            known = ClusterAccess(address, *map(Path, mine.values()))
            assert ran(DaskCluster(known), [Task(0, partial(work.square, 6))])[0].value == 36
        refused: Mapping[str, tuple[str, Sequence[str | Path]]] = {
            "without certificates": (cluster.address, ()),
            "without TLS": (f"tcp://{bare}", ()),
            "with other certificates": (cluster.address, [*theirs.values()]),
            "certificates without TLS": (f"tcp://{bare}", [*mine.values()]),
            "a missing file": (cluster.address, [tmp_path / "missing.pem"]),
            "no certificate": (cluster.address, [tmp_path / "scheduler.json"]),
        }
        for case, (address, files) in refused.items():
            with pytest.raises(UsageError) as refusal:
                ran(DaskCluster(ClusterAccess(address, *map(Path, files))), [Task(0, partial(work.square, 6))])
            assert len(str(refusal.value).splitlines()) == 1, case


def test_the_settings_choose_the_executor() -> None:
    assert isinstance(open_executor(WorkerSettings(1)), Pool)
    assert isinstance(open_executor(WorkerSettings(cluster=ClusterAccess("127.0.0.1:1"))), DaskCluster)


def test_without_tasks_nobody_is_asked() -> None:
    assert ran(DaskCluster(ClusterAccess("127.0.0.1:1")), []) == {}
