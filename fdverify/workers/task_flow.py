"""Flows of tasks: coroutines that await the outcomes of tasks in worker processes.

A flow reads from top to bottom what happens one after the other; ``run_together`` says what happens side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterable
from dataclasses import replace
from types import coroutine
from typing import Any

from fdverify.workers.executor import Executor, Task, TaskOutcome

Flow = Coroutine[Any, Any, Any]


class FlowEnded(Exception):
    """Ends the flow that raises it; a flow that awaits it goes on."""


@coroutine
def run_task(
    work: Callable[..., Any],
    *,
    limit: float | None = None,
    alone: bool = False,
    loading: Callable[[], Any] | None = None,
) -> Generator[Task, TaskOutcome, TaskOutcome]:
    """Run a task in a worker process, and return its outcome."""
    return (yield Task(None, work, limit, alone=alone, loading=loading))


@coroutine
def run_together(flows: Iterable[Flow]) -> Generator[list[Flow], None, None]:
    """Run flows side by side until all have ended."""
    yield list(flows)


def run_flows(
    executor: Executor,
    flows: Iterable[Flow],
    deadline: float | None = None,
    on_outcome: Callable[[], None] = lambda: None,
    beat: Callable[[], None] | None = None,
) -> None:
    """Run flows; ``on_outcome`` is called after each outcome, and ``beat`` as the executor does."""

    def resume_flow(task: Task, outcome: TaskOutcome) -> list[Task]:
        tasks: list[Task] = task.key.resume(outcome)
        on_outcome()
        return tasks

    executor.run_tasks([task for flow in flows for task in _RunningFlow(flow).resume()], resume_flow, deadline, beat)


class _RunningFlow:
    def __init__(self, flow: Flow, parent: _RunningFlow | None = None) -> None:
        self._flow = flow
        self._parent = parent
        self._open_parts = 0

    def resume(self, outcome: TaskOutcome | None = None) -> list[Task]:
        """Continue the flow until it awaits something; return the tasks that can start."""
        try:
            awaited = self._flow.send(outcome)
        except (StopIteration, FlowEnded):
            return [] if self._parent is None else self._parent._end_part()
        if isinstance(awaited, Task):
            return [replace(awaited, key=self)]
        # The flow itself counts as a part until all parts have started: a part may end at once.
        parts = [_RunningFlow(flow, self) for flow in awaited]
        self._open_parts = len(parts) + 1
        return [*(task for part in parts for task in part.resume()), *self._end_part()]

    def _end_part(self) -> list[Task]:
        self._open_parts -= 1
        return [] if self._open_parts else self.resume()
