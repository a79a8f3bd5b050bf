"""The outcomes of searches for bounds: documents, and their rendering with formula, evidence and the worst run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal

from rich.console import Console

from fdverify.bounds.bound_formula import BoundFormula, FormulaCase, Polynomial, StatedFormula
from fdverify.bounds.bounds_search import BoundSearch
from fdverify.bounds.detector_bound import BoundSubject, DetectorBound, Evidence, StatusOrNone
from fdverify.bounds.detector_configuration import DetectorConfiguration, FailingTimeout
from fdverify.durations import SECOND, format_duration
from fdverify.reports.documents import Document
from fdverify.reports.outcome import Outcome
from fdverify.reports.safe_text import Text
from fdverify.reports.step_table import describe_model, print_steps, print_verdict
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


def _build_bounds_document(about: str, search: BoundSearch, seconds: float) -> BoundsDocument:
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


def _build_configuration_document(
    numbers: Mapping[str, int], tick: Fraction | None, configuration: DetectorConfiguration, seconds: float
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
        tick=None if tick is None else float(tick / SECOND),
        timeout_steps=None if least is None else least.timeout,
        longer_timeouts_that_fail=configuration.longer,
        detection_ticks=ticks,
        detection_status="unknown" if ticks is None else "exact" if configuration.attained else "upper bound",
        detection_time=None if tick is None or ticks is None else float(tick * ticks / SECOND),
        usual_formula=configuration.usual_formula or None,
        usual_timeout_steps=None if usual is None else usual.timeout,
        usual_detection_ticks=None if usual is None else usual.detection,
        because=configuration.because,
        shorter_timeout_that_fails=None if failure is None else failure.timeout,
        fails_with_less=configuration.failing_run,
        trace=configuration.run,
        seconds=seconds,
    )


def report_bounds(name: str, search: BoundSearch, seconds: float) -> Outcome:
    """Build the outcome of the search for the bound with this name."""
    runs = [search.run, *(bound.witness.trace for bound in search.bounds)]
    return Outcome(
        exit_code=search.exit_code,
        document=_build_bounds_document(name, search, seconds),
        render=partial(_render_bounds, search, seconds),
        runs=tuple(run for run in runs if run is not None),
    )


def _render_bounds(search: BoundSearch, seconds: float, console: Console) -> None:
    for bound in search.bounds:
        _print_bound(console, bound)
    for note in search.notes:
        console.print(Text(note), soft_wrap=True)
    if not search.bounds:
        if search.run is not None:
            print_steps(console, search.run)
        print_verdict(console, search.verdict, search.why)
    console.print(Text(f"{_describe_subject(search.about)}, {seconds:.1f} s", style="dim"), soft_wrap=True)


def _describe_subject(about: BoundSubject) -> str:
    return describe_model(about.model, {name: text for name, text in about.options.items() if name == "variant"})


def _print_bound(console: Console, bound: DetectorBound) -> None:
    def print_line(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    if bound.witness.trace is not None:
        print_steps(console, bound.witness.trace)
    print_line(f"{bound.name}: {bound.status}", "bold green" if bound.proved else "bold yellow")
    print_line(f"  {bound.meaning}")
    if bound.formula.cases:
        for case in bound.formula.cases:
            print_line(f"    {case.formula}" + (f"   if {case.when}" if case.when else ""))
    else:
        print_line(f"    {bound.formula}")
    if bound.linear is not None:
        print_line(f"  least linear formula that is nowhere less: {bound.linear}")
    if bound.enough is not None:
        print_line(f"  enough for {_describe_evidence(bound.enough)}")
    elif bound.linear_enough is not None:
        print_line(f"  {bound.linear} is enough for {_describe_evidence(bound.linear_enough)}")
    else:
        print_line("  not proved to be enough")
    print_line(
        f"  nothing less is enough for {_describe_evidence(bound.witness)}; explored: {bound.explored} instances"
    )


def _describe_evidence(evidence: Evidence) -> str:
    obligations = f" ({len(evidence.obligations)} obligations proved)" if evidence.obligations else ""
    return f"{evidence.scope}: {evidence.detail}{obligations}"


def report_configuration(
    numbers: Mapping[str, int], tick: Fraction | None, configuration: DetectorConfiguration, seconds: float
) -> Outcome:
    """Build the outcome of configuring a detector for these parameters."""
    runs = [configuration.failing_run, configuration.run]
    return Outcome(
        exit_code=configuration.verdict.exit_code,
        document=_build_configuration_document(numbers, tick, configuration, seconds),
        render=partial(_render_configuration, numbers, tick, configuration),
        runs=tuple(run for run in runs if run is not None),
    )


def _render_configuration(
    numbers: Mapping[str, int], tick: Fraction | None, configuration: DetectorConfiguration, console: Console
) -> None:
    def describe_ticks(number: int) -> str:
        return f"{number} ticks" + ("" if tick is None else f" = {format_duration(number * tick)}")

    def print_line(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    about, least, usual = configuration.about, configuration.least, configuration.usual
    if configuration.failure is not None:
        print_steps(console, configuration.failure.run)
        print_line(_describe_failure(about, configuration.failure))
    if configuration.run is not None:
        print_steps(console, configuration.run)
    print_line(", ".join([_describe_subject(about), *(f"{name} = {value}" for name, value in numbers.items())]))
    if least is not None:
        ticks = describe_ticks(least.timeout)
        steps = ticks if about.counts_rounds else f"{least.timeout} steps of the {about.watcher}, at least {ticks}"
        print_line(f"initial timeout   {steps}", "bold")
    if configuration.longer:
        timeouts = " or ".join(str(timeout) for timeout in configuration.longer)
        print_line(
            f"a longer timeout is not always safe: {about.claim} is violated with {timeouts} as initial timeout",
            "bold yellow",
        )
    if least is not None and least.detection is not None:
        print_line(f"crash noticed in  {describe_ticks(least.detection)} at worst", "bold")
    if usual is not None and usual.detection is not None:
        print_line(
            f"with {configuration.usual_formula} = {usual.timeout} it would be {describe_ticks(usual.detection)}"
        )
    for reason in (*configuration.because, *configuration.notes):
        print_line(reason, "dim")
    if configuration.verdict is not Verdict.PROVED:
        print_verdict(console, configuration.verdict, configuration.detail)


def _describe_failure(about: BoundSubject, failure: FailingTimeout) -> str:
    suspected, violated = f"a correct {about.watched} may be suspected", f"{about.claim} is violated"
    what = suspected if failure.wrong_suspicion else violated
    return f"with {failure.timeout} as initial timeout, {what}, as above"
