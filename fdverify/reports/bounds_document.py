"""Bounds for machines: one JSON document, described by the schemas that ship beside this file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec

from fdverify import __version__
from fdverify.discovery.bounds.bound import Bound, Evidence
from fdverify.discovery.bounds.configure import Configuration
from fdverify.discovery.bounds.find import Found
from fdverify.reports.document import ObligationEntry, TraceEntry, formatted_schema, trace_entry
from fdverify.verdict import Verdict

SCHEMA = Path(__file__).with_name("bounds_schema.json")
CONFIGURATION_SCHEMA = Path(__file__).with_name("configuration_schema.json")


_KNOWN = "exact|upper bound, attained in [0-9]+ instances|lower bound|measured in [0-9]+ instances"
Status: TypeAlias = Annotated[str, msgspec.Meta(pattern=f"^({_KNOWN})$")]
"""What is known of all parameters; how a bound is known where neither half is proved."""
StatusOrNone: TypeAlias = Annotated[str, msgspec.Meta(pattern=f"^({_KNOWN}|unknown|violated|vacuous)$")]
"""The same, or the verdict where there is no bound."""


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
    status: Status
    upper_bound: str | None
    attained: int
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
    status: StatusOrNone
    upper_bound: str | None
    attained: int
    proof: EvidenceEntry | None
    witness: EvidenceEntry | None
    explored: int
    also: list[BoundEntry]
    detail: str
    trace: TraceEntry | None
    seconds: float


class ConfigurationDocument(msgspec.Struct):
    """What to configure at given numbers; times are in seconds, and null without a tick."""

    tool: Literal["fdverify"]
    version: str
    command: str
    model: str
    options: dict[str, str]
    property: str
    parameters: dict[str, int]
    verdict: Verdict
    detail: str
    tick: float | None
    timeout_steps: int | None
    longer_timeouts_that_fail: list[int]
    detection_ticks: int | None
    detection_status: Literal["exact", "upper bound", "unknown"]
    detection_time: float | None
    usual_formula: str | None
    usual_timeout_steps: int | None
    usual_detection_ticks: int | None
    because: list[str]
    shorter_timeout_that_fails: int | None
    fails_with_less: TraceEntry | None
    trace: TraceEntry | None
    seconds: float


def bounds_document(about: str, found: Found, seconds: float) -> str:
    entries = [_entry(bound) for bound in found.bounds]
    first = entries[0] if entries else None
    document = BoundsDocument(
        tool="fdverify",
        version=__version__,
        command=f"bounds {about}",
        model=found.about.model,
        options=dict(found.about.options),
        property=found.about.claim,
        name=None if first is None else first.name,
        meaning=None if first is None else first.meaning,
        formula=None if first is None else first.formula,
        cases=[] if first is None else first.cases,
        linear=None if first is None else first.linear,
        status=str(found.verdict) if first is None else first.status,
        upper_bound=None if first is None else first.upper_bound,
        attained=0 if first is None else first.attained,
        proof=None if first is None else first.proof,
        witness=None if first is None else first.witness,
        explored=0 if first is None else first.explored,
        also=entries[1:],
        detail="; ".join(filter(None, (found.why, *found.notes))),
        trace=None if found.run is None else trace_entry(found.run),
        seconds=round(seconds, 3),
    )
    return _text(document)


def configuration_document(
    numbers: Mapping[str, int], tick: Decimal | None, found: Configuration, seconds: float
) -> str:
    least, usual, failure = found.least, found.usual, found.failure
    ticks = None if least is None else least.detection
    document = ConfigurationDocument(
        tool="fdverify",
        version=__version__,
        command="bounds",
        model=found.about.model,
        options=dict(found.about.options),
        property=found.about.claim,
        parameters=dict(numbers),
        verdict=found.verdict,
        detail="; ".join(filter(None, (found.detail, *found.notes))),
        tick=None if tick is None else float(tick),
        timeout_steps=None if least is None else least.timeout,
        longer_timeouts_that_fail=list(found.longer),
        detection_ticks=ticks,
        detection_status="unknown" if ticks is None else "exact" if found.attained else "upper bound",
        detection_time=None if tick is None or ticks is None else float(tick * ticks),
        usual_formula=found.usual_formula or None,
        usual_timeout_steps=None if usual is None else usual.timeout,
        usual_detection_ticks=None if usual is None else usual.detection,
        because=list(found.because),
        shorter_timeout_that_fails=None if failure is None else failure.timeout,
        fails_with_less=None if found.fails_with_less is None else trace_entry(found.fails_with_less),
        trace=None if found.run is None else trace_entry(found.run),
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
        upper_bound=None if bound.upper_bound is None else str(bound.upper_bound),
        attained=bound.attained,
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
