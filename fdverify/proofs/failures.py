"""What it means that an obligation fails, in words."""

from __future__ import annotations

from fdverify.obligations.inductive import ObligationKind
from fdverify.proofs.proof_result import CheckedObligation, ProofResult

_KINDS = {
    ObligationKind.INITIATION: "initially, {about} is false",
    ObligationKind.CONSECUTION: "{about} holds with all other conjuncts{but}, and is false after {rounds}",
    ObligationKind.GOAL: "all conjuncts{but} hold, and the goal {about} does not",
    ObligationKind.PREMISE: "the invariant{but} does not imply the premise {about}",
}


def describe_failure(result: ProofResult, checked: CheckedObligation) -> str:
    question = checked.question
    rounds = "this round" if question.rounds == 1 else f"these {question.rounds} rounds"
    doubted = () if result.subject is None else result.subject.doubted
    own = question.about if question.kind is ObligationKind.CONSECUTION else None
    left_out = ", ".join(name for name in doubted if name != own)
    but = f" but what is meant to fail ({left_out})" if left_out else ""
    return _KINDS[question.kind].format(about=question.about, rounds=rounds, but=but)
