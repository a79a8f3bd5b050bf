"""Bounds for machines: one JSON document, described by the schemas that ship beside this file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Literal

import msgspec

from fdverify import __version__
from fdverify.discovery.bounds.bound import Bound, Evidence
from fdverify.discovery.bounds.configure import Configuration
from fdverify.discovery.bounds.find import Found
from fdverify.job import Job
from fdverify.reports.document import ObligationEntry, TraceEntry, formatted_schema, trace_entry

SCHEMA = Path(__file__).with_name("bounds_schema.json")
CONFIGURATION_SCHEMA = Path(__file__).with_name("configuration_schema.json")


class EvidenceEntry(msgspec.Struct):
    """For which parameters something is shown, and how."""

    scope: str
    detail: str
    obligations: list[ObligationEntry]
    trace: TraceEntry | None


class CaseEntry(msgspec.Struct):
    """A sum, as an option such as --timeout takes it, and where it is meant."""

    when: str
    formula: str


class BoundEntry(msgspec.Struct):
    """A formula with its proof, that it is enough, and its witness, that nothing less is."""

    name: str
    meaning: str
    formula: str
    cases: list[CaseEntry]
    linear: str | None
    status: Literal["exact", "upper and lower bound", "lower bound"]
    proof: EvidenceEntry | None
    witness: EvidenceEntry
    explored: int


class BoundsDocument(msgspec.Struct):
    """What ``fdverify bounds accuracy`` or ``detection`` found: a bound, and others that go with it."""

    tool: Literal["fdverify"]
    version: str
    command: str
    model: str
    options: dict[str, str]
    property: str
    name: str | None
    meaning: str | None
    formula: str | None
    cases: list[CaseEntry]
    linear: str | None
    status: Literal["exact", "upper and lower bound", "lower bound", "unknown"]
    proof: EvidenceEntry | None
    witness: EvidenceEntry | None
    explored: int
    also: list[BoundEntry]
    detail: str
    seconds: float


class ConfigurationDocument(msgspec.Struct):
    """What to configure at given numbers; times are in seconds, and null without a tick."""

    tool: Literal["fdverify"]
    version: str
    command: str
    model: str
    options: dict[str, str]
    parameters: dict[str, int]
    tick: float | None
    timeout_steps: int
    detection_ticks: int
    detection_time: float | None
    usual_formula: str | None
    usual_timeout_steps: int | None
    usual_detection_ticks: int | None
    because: list[str]
    fails_with_less: TraceEntry | None
    seconds: float


def bounds_document(about: str, job: Job, found: Found, seconds: float) -> str:
    system = job.system()
    entries = [_entry(bound) for bound in found.bounds]
    first = entries[0] if entries else None
    document = BoundsDocument(
        tool="fdverify",
        version=__version__,
        command=f"bounds {about}",
        model=system.name,
        options=dict(system.options),
        property=str(job.claim),
        name=None if first is None else first.name,
        meaning=None if first is None else first.meaning,
        formula=None if first is None else first.formula,
        cases=[] if first is None else first.cases,
        linear=None if first is None else first.linear,
        status="unknown" if first is None else first.status,
        proof=None if first is None else first.proof,
        witness=None if first is None else first.witness,
        explored=0 if first is None else first.explored,
        also=entries[1:],
        detail="; ".join(filter(None, (found.why, *found.notes))),
        seconds=round(seconds, 3),
    )
    return _text(document)


def configuration_document(
    job: Job, numbers: Mapping[str, int], tick: Decimal | None, found: Configuration, seconds: float
) -> str:
    system = job.system()
    document = ConfigurationDocument(
        tool="fdverify",
        version=__version__,
        command="bounds",
        model=system.name,
        options=dict(system.options),
        parameters=dict(numbers),
        tick=None if tick is None else float(tick),
        timeout_steps=found.least.timeout,
        detection_ticks=found.least.detection,
        detection_time=None if tick is None else float(tick * found.least.detection),
        usual_formula=found.usual_formula or None,
        usual_timeout_steps=None if found.usual is None else found.usual.timeout,
        usual_detection_ticks=None if found.usual is None else found.usual.detection,
        because=list(found.because),
        fails_with_less=None if found.fails_with_less is None else trace_entry(found.fails_with_less),
        seconds=round(seconds, 3),
    )
    return _text(document)


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(BoundsDocument)


def configuration_schema() -> bytes:
    return formatted_schema(ConfigurationDocument)


def _text(document: msgspec.Struct) -> str:
    return json.dumps(msgspec.to_builtins(document), indent=2) + "\n"


def _entry(bound: Bound) -> BoundEntry:
    proof = bound.enough or bound.linear_enough
    return BoundEntry(
        name=bound.name,
        meaning=bound.meaning,
        formula=str(bound.formula),
        cases=[CaseEntry(case.when(), str(case.sum)) for case in bound.formula.cases],
        linear=None if bound.linear is None else str(bound.linear),
        status=bound.status,
        proof=None if proof is None else _evidence(proof),
        witness=_evidence(bound.needed),
        explored=bound.measured,
    )


def _evidence(evidence: Evidence) -> EvidenceEntry:
    return EvidenceEntry(
        evidence.scope,
        evidence.detail,
        [ObligationEntry(o.name, o.kind, o.verdict, round(o.seconds, 3)) for o in evidence.obligations],
        None if evidence.run is None else trace_entry(evidence.run),
    )
