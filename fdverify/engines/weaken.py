"""What is left of an invariant when some of its conjuncts fail: the largest part of it that is inductive.

An argument for liveness may still stand on that, in part.  A conjunct that fails takes with it those that need it, and
the premises that need any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fdverify.engines.cti import explain
from fdverify.engines.inductive import Broken, Invariant, Kind, Question, Unbroken, Undecided, questions
from fdverify.smt.decide import decide


@dataclass(frozen=True)
class Weakened:
    """The conjuncts that are gone, and why each premise that needs one of them fails."""

    gone: tuple[str, ...]
    fallen: dict[str, Broken | Undecided]


def weakened(invariant: Invariant, failed: frozenset[str], in_full: int) -> Weakened:
    """Drop the conjuncts that failed, and those that fail without them, until what is left is inductive.

    Of so many premises it is also asked whether a run breaks them.
    """
    left = replace(invariant, without=failed)
    while True:
        asked = questions(left)
        falls = {each.about for each in asked if each.kind is not Kind.PREMISE and not _is_proved(each)}
        if not falls:
            break
        left = replace(left, without=left.without | falls)
    premises = [each for each in asked if each.kind is Kind.PREMISE and not _is_proved(each)]
    found = {
        each.name: explain(left, each.kind, each.about, each.rounds, place < in_full)
        for place, each in enumerate(premises)
    }
    fallen = {name: why for name, why in found.items() if not isinstance(why, Unbroken)}
    gone = tuple(conjunct.name for conjunct in invariant.conjuncts if conjunct.name in left.without)
    return Weakened(gone, fallen)


def _is_proved(question: Question) -> bool:
    return decide(question.script, core=False).status == "unsat"
