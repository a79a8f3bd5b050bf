"""The findings of a proof, at the line of each claim that is not proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from fdverify.errors import SourceLocation, UsageError, find_python_line
from fdverify.proofs.proof_result import CheckedObligation, ProofResult
from fdverify.reports.outcome import Finding
from fdverify.verdict import Obligation, Verdict


def list_findings(result: ProofResult, render: Callable[[ProofResult, str], str]) -> Iterator[Finding]:
    """List the findings of a proof; ``render`` describes why an obligation is not proved."""
    begins = SourceLocation(result.path.resolve(), 1) if result.subject is None else result.subject.begins

    def build_finding(
        rule: str, level: Literal["error", "warning"], text: str, place: SourceLocation, name: str
    ) -> Finding:
        return Finding(rule, level, text, place.file.resolve(), place.line or 1, f"{result.name}:{name}")

    def report_obligation(obligation: Obligation, head: str, place: SourceLocation) -> Finding:
        # An unknown obligation may still hold.
        level: Literal["error", "warning"] = "warning" if obligation.verdict is Verdict.UNKNOWN else "error"
        text = f"{head}\n{render(result, obligation.name)}"
        return build_finding(obligation.kind, level, text, place, obligation.name)

    if result.error is not None:
        rule = "bad-file" if isinstance(result.error, UsageError) else "internal-error"
        yield build_finding(rule, "error", str(result.error), find_python_line(result.error) or begins, rule)
    elif result.lost is not None:
        yield build_finding("not-checked", "warning", f"{Verdict.UNKNOWN}: {result.lost}", begins, "not-checked")
    else:
        for checked in result.checked:
            obligation = checked.build_obligation()
            if obligation.verdict is not Verdict.PROVED:
                yield report_obligation(
                    obligation, _describe_verdict(checked), _find_definition(result, checked.question.about)
                )
        for obligation in () if result.vacuity is None else result.vacuity.obligations:
            if obligation.verdict is not Verdict.PROVED:
                goal = "" if result.subject is None else result.subject.goal
                yield report_obligation(obligation, str(obligation.verdict), _find_definition(result, goal))


def _describe_verdict(checked: CheckedObligation) -> str:
    """Describe the verdict, and the parameters of the counterexample."""
    verdict = str(checked.build_obligation().verdict)
    if checked.broken is None:
        return verdict
    parameters = ", ".join(f"{name} = {value}" for name, value in checked.broken.step.parameters.items())
    return f"{verdict}, at {parameters}"


def _find_definition(result: ProofResult, claim: str) -> SourceLocation:
    """Find where a claim is defined; a claim of the model or of the argument is placed where the proof begins."""
    assert result.subject is not None, "what was loaded has obligations"
    return result.subject.definitions.get(claim, result.subject.begins)
