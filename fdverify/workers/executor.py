"""The contract of executors: tasks go in, and outcomes come back as tasks end, wherever the tasks run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from fdverify.errors import FdverifyError

PATIENCE_SECONDS = 2.0


@dataclass(frozen=True)
class Task:
    """A function for a worker process to call, with a time limit in seconds (``None``: until the deadline).

    If something has to be loaded first, the limit is for ``loading`` only, and ``work`` is called with its value.  A
    task that ``reports`` is called with a function that sends events.

    A task that runs longer than ``patience`` while others wait may be preempted and restarted later with more patience,
    so that a few hard tasks do not delay the easy ones.  A task to be done ``alone`` gets a fresh process: which model
    a solver finds, and how it prints a term, depends on its history.
    """

    key: Any
    work: Callable[..., Any]
    limit: float | None = None
    patience: float = PATIENCE_SECONDS
    alone: bool = False
    loading: Callable[[], Any] | None = None
    reports: bool = False


@dataclass(frozen=True)
class TaskOutcome:
    """The outcome of a task: a value, an error of this package, or the reason why there is neither (``lost``)."""

    value: Any = None
    error: FdverifyError | None = None
    lost: str | None = None
    seconds: float = 0.0
    overlong: bool = False
    """Whether the task exceeded its own time limit."""
    out_of_time: bool = False
    """Whether the deadline of the run had passed."""
    was_loading: bool = False
    """Whether a task without a value had not finished its loading."""


OutcomeHandler = Callable[[Task, TaskOutcome], Iterable[Task]]
"""A function that gets every outcome, and returns the tasks that follow from it."""
EventHandler = Callable[[Task, Any], None]
"""A function that gets what tasks report while they run."""


def ignore_event(task: Task, event: Any) -> None:
    """Ignore what a task reports."""


class Executor(Protocol):
    """Runs tasks, whose outcomes may add further tasks, until none is left or the deadline has passed."""

    def run_tasks(
        self,
        tasks: Iterable[Task],
        on_outcome: OutcomeHandler,
        deadline: float | None = None,
        beat: Callable[[], None] | None = None,
        on_event: EventHandler = ignore_event,
    ) -> None:
        """Run the tasks, and cancel those under way if an exception ends the run.

        ``beat`` is called often, even while all workers are busy, and may raise an exception to cancel the run.
        """

    def __enter__(self) -> Executor:
        """Return the executor itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all that the executor has started."""


def abandon_tasks(tasks: Iterable[tuple[Task, bool]], on_outcome: OutcomeHandler, reason: str | None = None) -> None:
    """Report tasks, each with whether it is still loading, and all that would follow them, as lost.

    Without a reason, it is because they are out of time.
    """
    abandoned = deque(tasks)
    while abandoned:
        task, is_loading = abandoned.popleft()
        lost = "the time limit was reached" if reason is None else reason
        outcome = TaskOutcome(lost=lost, out_of_time=reason is None, was_loading=is_loading)
        abandoned.extend((each, each.loading is not None) for each in on_outcome(task, outcome))
