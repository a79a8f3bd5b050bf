"""The conclusion of a check: the verdict of a proof, from what came of its obligations."""

from __future__ import annotations

from fdverify.errors import InternalError, SourceLocation
from fdverify.obligations.obligation import ObligationKind
from fdverify.proofs.proof_result import ProofResult
from fdverify.verdict import Verdict


def conclude_proof(result: ProofResult, is_selection: bool) -> None:
    """Compute the verdict once all tasks are done; a selection of obligations never makes a proof."""
    if result.error is not None:
        return
    if result.lost is not None:
        result.verdict, result.detail = Verdict.UNKNOWN, result.lost
        return
    result.verdict = _compute_verdict(result, is_selection)
    result.detail = _describe_verdict(result)
    if result.verdict is Verdict.PROVED and result.vacuity is not None and result.vacuity.false:
        result.error = InternalError(
            f"proved, but {', '.join(result.vacuity.false)} is false in a reachable state",
            place=SourceLocation(result.path),
        )


def _compute_verdict(result: ProofResult, is_selection: bool) -> Verdict:
    """Return the most serious verdict of all obligations; without a proof of every one of them it is unknown."""
    verdicts = {obligation.verdict for obligation in result.obligations}
    for failure in (Verdict.VIOLATED, Verdict.NOT_INDUCTIVE, Verdict.VACUOUS):
        if failure in verdicts:
            return failure
    if result.author_code is None:
        return Verdict.UNKNOWN
    if is_selection:
        return Verdict.PARTIAL if verdicts <= {Verdict.PROVED} else Verdict.UNKNOWN
    is_complete = verdicts == {Verdict.PROVED} and result.vacuity is not None and bool(result.checked)
    return Verdict.PROVED if is_complete else Verdict.UNKNOWN


def _describe_verdict(result: ProofResult) -> str:
    verdict = result.verdict
    matching = [obligation for obligation in result.obligations if obligation.verdict is verdict]
    names = ", ".join(obligation.name for obligation in matching)
    match verdict:
        case Verdict.PROVED:
            assert result.subject is not None, "a proved proof was prepared"
            if result.subject.reduction is not None:
                return f"{result.subject.goal}, by {result.subject.reduction}"
            return f"{result.subject.goal} holds in every reachable state"
        case Verdict.PARTIAL:
            return f"{len(result.checked)} obligations hold, the others were not checked; nothing is claimed"
        case Verdict.VIOLATED:
            return f"a run from the initial state breaks the goal ({names})"
        case Verdict.NOT_INDUCTIVE:
            only_premises = all(obligation.kind == ObligationKind.PREMISE for obligation in matching)
            failure = "the invariant does not imply a premise" if only_premises else "a step leaves the invariant"
            return f"{failure} ({names})"
        case _:
            return "; ".join(f"{obligation.name}: {obligation.detail}" for obligation in matching)
