"""What came of proofs, for machines: one JSON document, described by the schema that ships beside this file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from fdverify import __version__
from fdverify.proofs.result import Checked, ProofResult, exit_code
from fdverify.reports.argument import premises
from fdverify.reports.document import TraceEntry, formatted_schema, trace_entry
from fdverify.reports.failures import failure_in_words
from fdverify.smt.decide import SOLVER
from fdverify.verdict import Verdict

if TYPE_CHECKING:
    from fdverify.discovery.suggest.suggest import Suggested, Suggestion

SCHEMA = Path(__file__).with_name("proof_schema.json")


class StabilityEntry(msgspec.Struct):
    """How many of so many seeds proved it, and the solver effort they took."""

    seeds: int
    passed: int
    effort_least: int
    effort_median: int
    effort_most: int


class FailureEntry(msgspec.Struct):
    """The step that breaks a conjunct and what that means; what is known of reaching it, the run that does; a hint."""

    says: str
    step: TraceEntry
    reached: str
    run: TraceEntry | None
    hint: str | None


class ProofObligation(msgspec.Struct):
    name: str
    kind: str
    about: str | None
    meaning: str | None
    verdict: Verdict
    seconds: float
    detail: str
    source: str | None
    cached: bool
    second_opinion: str | None
    smtlib: str | None
    stability: StabilityEntry | None
    failure: FailureEntry | None


class BoundEntry(msgspec.Struct):
    """What an argument for liveness says in numbers."""

    of: str
    formula: str
    remark: str


class PremiseEntry(msgspec.Struct):
    """What an argument for liveness rests on."""

    name: str
    meaning: str
    verdict: Verdict


class WitnessEntry(msgspec.Struct):
    """A run, and what holds at its end."""

    shows: str
    run: TraceEntry


class ConjunctEntry(msgspec.Struct):
    """A conjunct to be added: what it returns, and all of it as it is to be pasted."""

    name: str
    formula: str
    source: str


class SuggestionEntry(msgspec.Struct):
    """Conjuncts to be added, what they need imported, and the obligations that are not proved even so."""

    proves: bool
    conjuncts: list[ConjunctEntry]
    imports: list[str]
    unproved: list[str]


class ProofEntry(msgspec.Struct):
    """What came of one file; with an ``error`` there is no verdict."""

    file: str
    proof: str
    model: str | None
    variant: str | None
    options: dict[str, str]
    parameters: dict[str, int | str]
    property: str | None
    meaning: str | None
    """Of the property."""
    assumptions: dict[str, str]
    fairness: dict[str, str]
    verdict: Verdict | None
    detail: str
    error: str | None
    seconds: float
    statistics: dict[str, int]
    obligations: list[ProofObligation]
    reduction: str | None
    premises: list[PremiseEntry]
    bounds: list[BoundEntry]
    notes: list[str]
    dead_end: TraceEntry | None
    """A run after which no round is possible."""
    witnesses: list[WitnessEntry]
    suggestions: list[SuggestionEntry]
    suggestion_note: str | None


class ProofDocument(msgspec.Struct):
    """What `verify-invariant` found."""

    tool: Literal["fdverify"]
    version: str
    command: Literal["verify-invariant"]
    solver: str
    exit_code: int
    seconds: float
    proofs: list[ProofEntry]


def proof_document(
    results: Sequence[ProofResult], seconds: float, witness: bool, suggested: Sequence[Suggested] = ()
) -> str:
    by_path = {each.path: each for each in suggested}
    found = ProofDocument(
        tool="fdverify",
        version=__version__,
        command="verify-invariant",
        solver=SOLVER,
        exit_code=exit_code(results),
        seconds=round(seconds, 3),
        proofs=[_proof(result, witness, by_path.get(result.path)) for result in results],
    )
    return json.dumps(msgspec.to_builtins(found), indent=2) + "\n"


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(ProofDocument)


def _proof(result: ProofResult, witness: bool, suggested: Suggested | None) -> ProofEntry:
    subject = result.subject if result.error is None else None
    conjuncts = {checked.question.about for checked in result.checked if checked.is_about_conjunct}
    return ProofEntry(
        file=str(result.path),
        proof=result.name,
        model=None if subject is None else subject.model,
        variant=None if subject is None else subject.options.get("variant"),
        options={} if subject is None else dict(subject.options),
        parameters={} if subject is None else dict(subject.parameters),
        property=None if subject is None else subject.goal,
        meaning=None if subject is None else subject.goal_meaning,
        assumptions={} if subject is None else dict(subject.assumptions),
        fairness={} if subject is None else dict(subject.fairness),
        verdict=None if result.error is not None else result.verdict,
        detail=result.detail if result.error is None else "",
        error=None if result.error is None else str(result.error),
        seconds=round(result.seconds, 3),
        statistics={} if subject is None else {"conjuncts": len(conjuncts), "k": subject.k},
        obligations=[] if subject is None else _obligations(result),
        reduction=None if subject is None else subject.reduction,
        premises=_premises(result),
        bounds=_bounds(result),
        notes=list(result.notes),
        dead_end=None
        if result.vacuity is None or result.vacuity.dead_end is None
        else trace_entry(result.vacuity.dead_end),
        witnesses=[WitnessEntry(found.shows, trace_entry(found.run)) for found in result.witnesses if witness],
        suggestions=[] if suggested is None else [_suggestion(found) for found in suggested.found],
        suggestion_note=None if suggested is None or not suggested.remark else suggested.remark,
    )


def _suggestion(found: Suggestion) -> SuggestionEntry:
    conjuncts = [ConjunctEntry(each.name, each.formula, each.source) for each in found.conjuncts]
    return SuggestionEntry(found.proves, conjuncts, list(found.imports), list(found.unproved))


def _premises(result: ProofResult) -> list[PremiseEntry]:
    if result.subject is None or result.subject.reduction is None:
        return []
    return [PremiseEntry(each.name, each.meaning, each.verdict) for each in premises(result, result.subject)]


def _bounds(result: ProofResult) -> list[BoundEntry]:
    """What is not proved bounds nothing."""
    if result.subject is None or result.verdict is not Verdict.PROVED:
        return []
    return [BoundEntry(bound.of, bound.formula, bound.remark) for bound in result.subject.bounds]


def _obligations(result: ProofResult) -> list[ProofObligation]:
    vacuity = [] if result.vacuity is None else result.vacuity.obligations
    return [_obligation(result, checked) for checked in result.checked] + [
        ProofObligation(
            name=found.name,
            kind=found.kind,
            about=None,
            meaning=None,
            verdict=found.verdict,
            seconds=round(found.seconds, 3),
            detail=found.detail,
            source=None,
            cached=False,
            second_opinion=None,
            smtlib=None,
            stability=None,
            failure=None,
        )
        for found in vacuity
    ]


def _obligation(result: ProofResult, checked: Checked) -> ProofObligation:
    found, stability, broken = checked.obligation(), checked.stability(), checked.broken
    assert result.subject is not None, "obligations are those of a loaded file"
    return ProofObligation(
        name=found.name,
        kind=found.kind,
        about=checked.question.about,
        meaning=result.subject.meaning(checked.question.about),
        verdict=found.verdict,
        seconds=round(found.seconds, 3),
        detail=found.detail,
        source=result.subject.sources.get(checked.question.about),
        cached=checked.cached,
        second_opinion=checked.second,
        smtlib=None if checked.kept is None else str(checked.kept),
        stability=None
        if stability is None
        else StabilityEntry(stability.seeds, stability.passed, stability.least, stability.middle, stability.most),
        failure=None
        if broken is None
        else FailureEntry(
            says=failure_in_words(result, checked),
            step=trace_entry(broken.step),
            reached=broken.words,
            run=None if broken.run is None else trace_entry(broken.run),
            hint=result.hint(checked),
        ),
    )
