"""The JSON documents of ``fdverify bounds``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from fdverify.bounds.bound_formula import BoundFormula, FormulaCase, Polynomial, StatedFormula
from fdverify.bounds.bounds_search import BoundSearch
from fdverify.bounds.detector_bound import DetectorBound, Evidence, StatusOrNone
from fdverify.bounds.detector_configuration import DetectorConfiguration
from fdverify.reports.documents import Document
from fdverify.runs.run_table import ShownRun
from fdverify.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class BoundsDocument(Document):
    """The result of ``fdverify bounds accuracy`` or ``detection``: a bound, and further bounds that belong to it."""

    model: str
    options: Mapping[str, str]
    property: str
    name: str | None
    meaning: str | None
    formula: BoundFormula | StatedFormula | None
    cases: tuple[FormulaCase, ...]
    linear: Polynomial | None
    status: StatusOrNone
    upper_bound: BoundFormula | StatedFormula | Polynomial | None
    attained: int
    proof: Evidence | None
    witness: Evidence | None
    explored: int
    also: tuple[DetectorBound, ...]
    detail: str
    trace: ShownRun | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ConfigurationDocument(Document):
    """The configuration of a detector for fixed parameters; times are in seconds, and null without a tick."""

    model: str
    options: Mapping[str, str]
    property: str
    parameters: Mapping[str, int]
    verdict: Verdict
    detail: str
    tick: float | None
    timeout_steps: int | None
    longer_timeouts_that_fail: tuple[int, ...]
    detection_ticks: int | None
    detection_status: Literal["exact", "upper bound", "unknown"]
    detection_time: float | None
    usual_formula: str | None
    usual_timeout_steps: int | None
    usual_detection_ticks: int | None
    because: tuple[str, ...]
    shorter_timeout_that_fails: int | None
    fails_with_less: ShownRun | None
    trace: ShownRun | None
    seconds: float


def build_bounds_document(about: str, search: BoundSearch, seconds: float) -> BoundsDocument:
    first, *also = search.bounds or (None,)
    return BoundsDocument(
        command=f"bounds {about}",
        model=search.about.model,
        options=search.about.options,
        property=search.about.claim,
        name=None if first is None else first.name,
        meaning=None if first is None else first.meaning,
        formula=None if first is None else first.formula,
        cases=() if first is None else first.cases,
        linear=None if first is None else first.linear,
        status=str(search.verdict) if first is None else first.status,
        upper_bound=None if first is None else first.upper_bound,
        attained=0 if first is None else first.attained,
        proof=None if first is None else first.proof,
        witness=None if first is None else first.witness,
        explored=0 if first is None else first.explored,
        also=tuple(also),
        detail="; ".join(filter(None, (search.why, *search.notes))),
        trace=search.run,
        seconds=seconds,
    )


def build_configuration_document(
    numbers: Mapping[str, int], tick: Decimal | None, configuration: DetectorConfiguration, seconds: float
) -> ConfigurationDocument:
    least, usual, failure = configuration.least, configuration.usual, configuration.failure
    ticks = None if least is None else least.detection
    return ConfigurationDocument(
        command="bounds",
        model=configuration.about.model,
        options=configuration.about.options,
        property=configuration.about.claim,
        parameters=numbers,
        verdict=configuration.verdict,
        detail="; ".join(filter(None, (configuration.detail, *configuration.notes))),
        tick=None if tick is None else float(tick),
        timeout_steps=None if least is None else least.timeout,
        longer_timeouts_that_fail=configuration.longer,
        detection_ticks=ticks,
        detection_status="unknown" if ticks is None else "exact" if configuration.attained else "upper bound",
        detection_time=None if tick is None or ticks is None else float(tick * ticks),
        usual_formula=configuration.usual_formula or None,
        usual_timeout_steps=None if usual is None else usual.timeout,
        usual_detection_ticks=None if usual is None else usual.detection,
        because=configuration.because,
        shorter_timeout_that_fails=None if failure is None else failure.timeout,
        fails_with_less=configuration.failing_run,
        trace=configuration.run,
        seconds=seconds,
    )
