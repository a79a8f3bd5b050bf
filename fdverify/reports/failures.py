"""What it means that an obligation fails, in words."""

from __future__ import annotations

from fdverify.engines.inductive import Kind
from fdverify.proofs.result import Checked

_KINDS = {
    Kind.INITIATION: "initially, {about} is false",
    Kind.CONSECUTION: "{about} holds with all other conjuncts, and is false after {rounds}",
    Kind.GOAL: "all conjuncts hold, and the goal {about} does not",
    Kind.PREMISE: "the invariant does not imply the premise {about}",
}


def failure_in_words(checked: Checked) -> str:
    question = checked.question
    rounds = "this round" if question.rounds == 1 else f"these {question.rounds} rounds"
    return _KINDS[question.kind].format(about=question.about, rounds=rounds)
