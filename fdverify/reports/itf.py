"""Traces in the Informal Trace Format, which Apalache and quint write and the ITF viewers read."""

from __future__ import annotations

import json
from collections.abc import Mapping

import itf_py

from fdverify.models.system import System
from fdverify.traces.steps import Shown


def itf(system: System, trace: Shown) -> str:
    """A run as ITF text; a state's choices and position go into its ``#meta``."""
    names = [variable.name for variable in system.variables]
    states = [
        itf_py.State(
            meta={"index": index, "round": row.round, "phase": row.phase, "choices": _listed(row.choices)},
            values={**trace.parameters, **row.state},
        )
        for index, row in enumerate(trace.rows)
    ]
    written = itf_py.Trace(
        meta={"source": system.name, **system.options},
        params=list(trace.parameters),
        vars=names,
        states=states,
        loop=None if trace.loop is None else sum(row.round <= trace.loop for row in trace.rows) - 1,
    )
    return json.dumps(itf_py.trace_to_json(written), indent=1) + "\n"


def _listed(choices: Mapping[str, object]) -> dict[str, object]:
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in choices.items()}
