"""Runs in the Informal Trace Format, which Apalache and quint write and the ITF viewers read."""

from __future__ import annotations

import json
from collections.abc import Mapping

import itf_py

from fdverify.reports.outcome import Outcome
from fdverify.runs.run_table import ShownRun


def write_itf(outcome: Outcome) -> str | None:
    """Write the first run that is shown; an ITF trace holds only one run."""
    return _write_run(outcome.runs[0]) if outcome.runs else None


def _write_run(run: ShownRun) -> str:
    """Write a run as ITF text; a state's choices and position go into its ``#meta``."""
    states = [
        itf_py.State(
            meta={"index": index, "round": step.round, "phase": step.phase, "choices": _list_ages(step.choices)},
            values={**run.parameters, **_collect_ages(step.state)},
        )
        for index, step in enumerate(run.steps)
    ]
    trace = itf_py.Trace(
        meta={"source": run.model, **run.options},
        params=list(run.parameters),
        vars=list(run.steps[0].state),
        states=states,
        loop=None if run.loop is None else sum(step.round <= run.loop for step in run.steps) - 1,
    )
    return json.dumps(itf_py.trace_to_json(trace), indent=1) + "\n"


def _collect_ages(values: Mapping[str, object]) -> dict[str, object]:
    """Convert tuples of ages to sets, which the format has."""
    return {name: frozenset(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _list_ages(values: Mapping[str, object]) -> dict[str, object]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
