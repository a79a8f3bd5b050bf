"""Results for machines: one JSON document, described by the schema that ships beside this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from fdverify import __version__
from fdverify.models.system import Property, System
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


class ProcessEntry(msgspec.Struct):
    """A process: the variable that is its program counter, the choice to be active, and what else is its own."""

    name: str
    pc: str | None
    active: str | None
    owns: list[str]


class ChannelEntry(msgspec.Struct):
    """A buffer, who sends its messages and who gets them, if that is known, and the choice that delivers them."""

    buffer: str
    sender: str | None
    receiver: str | None
    delivered: str | None


class MessageEntry(msgspec.Struct):
    """A message in transit from the step ``sent`` (null: before the first) to before the step ``ended`` (null: still).

    ``ages`` has its age after each of these steps.  It ended ``by`` a choice of ages, or because it came to be of the
    same age as an older message, the one of number ``into``, which stands for both from then on.
    """

    buffer: str
    sent: int | None
    ages: list[int]
    ended: int | None
    by: str | None
    into: int | None


class TraceEntry(msgspec.Struct):
    """A run; if there is a ``loop``, the steps of the rounds after that one can be repeated for ever."""

    parameters: dict[str, int]
    steps: list[StepEntry]
    loop: int | None
    processes: list[ProcessEntry]
    channels: list[ChannelEntry]
    messages: list[MessageEntry]


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
    meaning: str
    """Of the property."""
    verdict: Verdict
    detail: str
    seconds: float
    statistics: dict[str, int]
    obligations: list[ObligationEntry]
    notes: list[str]
    trace: TraceEntry | None
    proof: str | None
    """The text of a proof file, of a command that has found one."""


def document(
    command: str,
    system: System,
    claim: Property,
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
        property=claim.name,
        meaning=claim.meaning,
        verdict=result.verdict,
        detail=result.detail,
        seconds=round(seconds, 3),
        statistics=result.statistics,
        obligations=[ObligationEntry(o.name, o.kind, o.verdict, round(o.seconds, 3)) for o in result.obligations],
        notes=list(result.notes),
        trace=None if trace is None else trace_entry(trace),
        proof=proof,
    )
    # Python's own writer: numbers may be larger than 64 bits.
    return json.dumps(msgspec.to_builtins(found), indent=2) + "\n"


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(Document)


def formatted_schema(document: type[msgspec.Struct]) -> bytes:
    schema = _with_null_last(msgspec.json.schema(document))
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def _with_null_last(part: Any) -> Any:
    """The same schema whatever the order in which a version of msgspec lists alternatives."""
    if isinstance(part, list):
        return [_with_null_last(each) for each in sorted(part, key=lambda each: each == {"type": "null"})]
    if isinstance(part, dict):
        return {name: _with_null_last(each) for name, each in part.items()}
    return part


def trace_entry(trace: Shown) -> TraceEntry:
    return TraceEntry(
        parameters=trace.parameters,
        steps=[_step(row) for row in trace.rows],
        loop=trace.loop,
        processes=[ProcessEntry(each.name, each.pc, each.active, list(each.owns)) for each in trace.cast.processes],
        channels=[
            ChannelEntry(each.buffer, each.sender, each.receiver, each.delivered) for each in trace.cast.channels
        ],
        messages=[
            MessageEntry(each.buffer, each.sent, each.ages, each.ended, each.by, each.into) for each in trace.messages
        ],
    )


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
