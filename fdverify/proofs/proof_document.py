"""The JSON document of ``verify-invariant``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fdverify.liveness.argument import Bound
from fdverify.proofs.argument_tree import ArgumentPremise, list_premises
from fdverify.proofs.proof_result import (
    CheckedObligation,
    ProofResult,
    ProofSuggestions,
    Stability,
    Suggestion,
    WitnessDisplay,
    compute_exit_code,
    describe_failure,
)
from fdverify.reports.documents import Document
from fdverify.runs.run_table import ShownRun
from fdverify.smt.solver_name import SOLVER
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class ProofFailure:
    """The step that breaks a conjunct, what is known of a run that reaches it, and a hint."""

    says: str
    step: ShownRun
    reached: str
    run: ShownRun | None
    hint: str | None


@dataclass(frozen=True)
class ProofObligation:
    """An obligation, its verdict, and the claim that it is about."""

    name: str
    kind: str
    verdict: Verdict
    seconds: float
    detail: str
    about: str | None = None
    meaning: str | None = None
    source: str | None = None
    cached: bool = False
    second_opinion: str | None = None
    smtlib: Path | None = None
    stability: Stability | None = None
    failure: ProofFailure | None = None

    WRITTEN = (
        "name",
        "kind",
        "about",
        "meaning",
        "verdict",
        "seconds",
        "detail",
        "source",
        "cached",
        "second_opinion",
        "smtlib",
        "stability",
        "failure",
    )


@dataclass(frozen=True)
class ProofEntry:
    """The result of one file; with an ``error`` there is no verdict."""

    file: Path
    proof: str
    model: str | None
    variant: str | None
    options: Mapping[str, str]
    parameters: Mapping[str, int | str]
    property: str | None
    meaning: str | None
    """The meaning of the property."""
    assumptions: Mapping[str, str]
    fairness: Mapping[str, str]
    verdict: Verdict | None
    detail: str
    error: str | None
    seconds: float
    statistics: Mapping[str, int]
    obligations: tuple[ProofObligation, ...]
    reduction: str | None
    premises: tuple[ArgumentPremise, ...]
    bounds: tuple[Bound, ...]
    notes: tuple[str, ...]
    dead_end: ShownRun | None
    """A run after which no round is possible."""
    witnesses: tuple[WitnessDisplay, ...]
    suggestions: tuple[Suggestion, ...]
    suggestion_note: str | None


@dataclass(frozen=True, kw_only=True)
class ProofDocument(Document):
    """The results of ``verify-invariant``."""

    command: Literal["verify-invariant"] = "verify-invariant"
    solver: str
    exit_code: int
    seconds: float
    proofs: tuple[ProofEntry, ...]


def build_document(
    results: Sequence[ProofResult], seconds: float, witness: bool, suggestions: Sequence[ProofSuggestions] = ()
) -> ProofDocument:
    by_path = {each.path: each for each in suggestions}
    return ProofDocument(
        solver=SOLVER,
        exit_code=compute_exit_code(results),
        seconds=seconds,
        proofs=tuple(_build_entry(result, witness, by_path.get(result.path)) for result in results),
    )


def _build_entry(result: ProofResult, witness: bool, suggested: ProofSuggestions | None) -> ProofEntry:
    subject = result.subject if result.error is None else None
    conjuncts = {checked.question.about for checked in result.checked if checked.is_about_conjunct}
    is_argued = result.subject is not None and result.subject.reduction is not None
    is_proved = result.verdict is Verdict.PROVED  # only a proof establishes bounds
    return ProofEntry(
        file=result.path,
        proof=result.name,
        model=None if subject is None else subject.model,
        variant=None if subject is None else subject.options.get("variant"),
        options={} if subject is None else subject.options,
        parameters={} if subject is None else subject.parameters,
        property=None if subject is None else subject.goal,
        meaning=None if subject is None else subject.goal_meaning,
        assumptions={} if subject is None else subject.assumptions,
        fairness={} if subject is None else subject.fairness,
        verdict=None if result.error is not None else result.verdict,
        detail=result.detail if result.error is None else "",
        error=None if result.error is None else str(result.error),
        seconds=result.seconds,
        statistics={} if subject is None else {"conjuncts": len(conjuncts), "k": subject.k},
        obligations=() if subject is None else _list_obligations(result),
        reduction=None if subject is None else subject.reduction,
        premises=tuple(list_premises(result, result.subject)) if is_argued and result.subject is not None else (),
        bounds=result.subject.bounds if is_proved and result.subject is not None else (),
        notes=result.notes,
        dead_end=None if result.vacuity is None else result.vacuity.dead_end,
        witnesses=result.witnesses if witness else (),
        suggestions=() if suggested is None else suggested.suggestions,
        suggestion_note=None if suggested is None or not suggested.remark else suggested.remark,
    )


def _list_obligations(result: ProofResult) -> tuple[ProofObligation, ...]:
    vacuity = () if result.vacuity is None else result.vacuity.obligations
    return (
        *(_build_obligation(result, checked) for checked in result.checked),
        *(ProofObligation(each.name, each.kind, each.verdict, each.seconds, each.detail) for each in vacuity),
    )


def _build_obligation(result: ProofResult, checked: CheckedObligation) -> ProofObligation:
    obligation, broken = checked.build_obligation(), checked.broken
    assert result.subject is not None, "obligations are those of a loaded file"
    source = result.subject.sources.get(checked.question.about)
    return ProofObligation(
        name=obligation.name,
        kind=obligation.kind,
        about=checked.question.about,
        meaning=result.subject.get_meaning(checked.question.about),
        verdict=obligation.verdict,
        seconds=obligation.seconds,
        detail=obligation.detail,
        source=None if source is None else str(source),
        cached=checked.cached,
        second_opinion=checked.second,
        smtlib=checked.kept,
        stability=checked.compute_stability(),
        failure=None
        if broken is None
        else ProofFailure(
            says=describe_failure(result, checked),
            step=broken.step,
            reached=broken.words,
            run=broken.run,
            hint=result.find_hint(checked),
        ),
    )
