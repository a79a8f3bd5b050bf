"""The outcome of checking a property with an engine: document, rendering and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import Literal

from rich.console import Console

from fdverify.models.system import Property, System
from fdverify.reports.documents import Document
from fdverify.reports.outcome import Finding, Outcome
from fdverify.reports.safe_text import Text
from fdverify.reports.step_table import describe_model, print_steps, print_verdict, render_text
from fdverify.runs.run_table import ShownRun
from fdverify.verdict import Obligation, Result, Verdict


@dataclass(frozen=True, kw_only=True)
class CheckDocument(Document):
    """The result of an engine for a property of a model."""

    model: str
    variant: str | None
    options: Mapping[str, str]
    parameters: Mapping[str, int | str]
    property: str
    meaning: str
    """The meaning of the property."""
    verdict: Verdict
    detail: str
    seconds: float
    statistics: Mapping[str, int]
    obligations: tuple[Obligation, ...]
    notes: tuple[str, ...]
    trace: ShownRun | None
    proof: str | None
    """The text of a proof file, if the command has found a proof."""


def report_check(
    command: str,
    system: System,
    claim: Property,
    result: Result,
    run: ShownRun | None,
    seconds: float,
    proof: str | None = None,
    prints_proof: bool = False,
) -> Outcome:
    """Build the outcome; with ``prints_proof``, the rendering begins with the proof."""
    document = CheckDocument(
        command=command,
        model=system.name,
        variant=system.options.get("variant"),
        options=system.options,
        parameters=system.describe_parameters(),
        property=claim.name,
        meaning=claim.meaning,
        verdict=result.verdict,
        detail=result.detail,
        seconds=seconds,
        statistics=result.statistics,
        obligations=result.obligations,
        notes=result.notes,
        trace=run,
        proof=proof,
    )
    return Outcome(
        exit_code=result.verdict.exit_code,
        document=document,
        render=partial(_render_check, document, prints_proof),
        runs=() if run is None else (run,),
        findings=_list_findings(document, claim),
    )


def _render_check(document: CheckDocument, prints_proof: bool, console: Console) -> None:
    if prints_proof and document.proof is not None:
        console.file.write(f"{document.proof}\n")
    if document.trace is not None:
        print_steps(console, document.trace)
    print_verdict(console, document.verdict, document.detail)
    console.print(Text(f"{document.property}: {document.meaning}"), soft_wrap=True)
    for note in document.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    facts = [f"{name} {value}" for name, value in document.statistics.items()]
    about = describe_model(document.model, document.options)
    console.print(Text(", ".join([about, *facts, f"{document.seconds:.1f} s"]), style="dim"), soft_wrap=True)


def _list_findings(document: CheckDocument, claim: Property) -> tuple[Finding, ...]:
    if document.verdict.exit_code == 0:
        return ()
    code = getattr(unwrap(claim.holds), "__code__", None)
    if code is None:  # a callable object has no line
        return ()
    text = render_text(partial(_render_check, document, False), for_terminal=False)
    level: Literal["error", "warning"] = "warning" if document.verdict is Verdict.UNKNOWN else "error"
    name = f"{document.model}:{document.property}"
    return (Finding("property", level, text, Path(code.co_filename).resolve(), code.co_firstlineno, name),)
