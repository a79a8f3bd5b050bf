"""Results for machines: one JSON document, described by the schema that ships beside this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from fdverify import __version__
from fdverify.models.system import System
from fdverify.traces.steps import Row, Shown
from fdverify.verdict import Result, Verdict

SCHEMA = Path(__file__).with_name("schema.json")


class ObligationEntry(msgspec.Struct):
    name: str
    kind: str
    verdict: Verdict
    seconds: float


class StepEntry(msgspec.Struct):
    """A state and the choices that led to it; sets of ages are sorted lists."""

    round: int
    phase: str | None
    choices: dict[str, bool | list[int]]
    state: dict[str, bool | int | str | list[int]]
    show: dict[str, int]


class TraceEntry(msgspec.Struct):
    """A run; if there is a ``loop``, the steps of the rounds after that one can be repeated for ever."""

    parameters: dict[str, int]
    steps: list[StepEntry]
    loop: int | None


class Document(msgspec.Struct):
    """What one command found."""

    tool: Literal["fdverify"]
    version: str
    command: str
    model: str
    variant: str | None
    options: dict[str, str]
    parameters: dict[str, int | str]
    property: str
    verdict: Verdict
    detail: str
    seconds: float
    statistics: dict[str, int]
    obligations: list[ObligationEntry]
    trace: TraceEntry | None
    proof: str | None
    """The text of a proof file, of a command that has found one."""


def document(
    command: str,
    system: System,
    claim: str,
    result: Result,
    trace: Shown | None,
    seconds: float,
    proof: str | None = None,
) -> str:
    """The document as JSON text."""
    found = Document(
        tool="fdverify",
        version=__version__,
        command=command,
        model=system.name,
        variant=system.options.get("variant"),
        options=dict(system.options),
        parameters=system.described_parameters(),
        property=claim,
        verdict=result.verdict,
        detail=result.detail,
        seconds=round(seconds, 3),
        statistics=result.statistics,
        obligations=[ObligationEntry(o.name, o.kind, o.verdict, round(o.seconds, 3)) for o in result.obligations],
        trace=None if trace is None else trace_entry(trace),
        proof=proof,
    )
    # Python's own writer: numbers may be larger than 64 bits.
    return json.dumps(msgspec.to_builtins(found), indent=2) + "\n"


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(Document)


def formatted_schema(document: type[msgspec.Struct]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(document)), indent=2) + b"\n"


def trace_entry(trace: Shown) -> TraceEntry:
    return TraceEntry(trace.parameters, [_step(row) for row in trace.rows], trace.loop)


def _step(row: Row) -> StepEntry:
    return StepEntry(
        round=row.round,
        phase=row.phase,
        choices={name: _plain(value) for name, value in row.choices.items()},
        state={name: _plain(value) for name, value in row.state.items()},
        show=row.shown,
    )


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value
