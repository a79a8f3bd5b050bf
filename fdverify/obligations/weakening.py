"""Weakening: the largest inductive subset of an invariant's conjuncts when some of them fail.

Some premises of a liveness argument may still follow from it.  A conjunct that fails takes with it the conjuncts that
need it, and the premises that need any of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fdverify.obligations.counterexample import explain_failure
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.obligation import (
    CounterexampleToInduction,
    InvariantObligation,
    NoCounterexample,
    ObligationKind,
    UnknownCounterexample,
)
from fdverify.smt.decide import decide_script


@dataclass(frozen=True)
class WeakenedInvariant:
    """The conjuncts that were dropped, and why each premise that needs one of them fails."""

    gone: tuple[str, ...]
    fallen: dict[str, CounterexampleToInduction | UnknownCounterexample]


def weaken_invariant(invariant: Invariant, failed: frozenset[str], in_full: int) -> WeakenedInvariant:
    """Drop the conjuncts that failed, then those that fail without them, until the rest is inductive.

    For the first ``in_full`` premises that fail, also search for a run that violates them.
    """
    left = replace(invariant, without=failed)
    while True:
        obligations = build_obligations(left)
        failing = {
            obligation.about
            for obligation in obligations
            if obligation.kind is not ObligationKind.PREMISE and not _is_proved(obligation)
        }
        if not failing:
            break
        left = replace(left, without=left.without | failing)
    premises = [
        obligation
        for obligation in obligations
        if obligation.kind is ObligationKind.PREMISE and not _is_proved(obligation)
    ]
    reasons = {
        premise.name: explain_failure(left, premise.kind, premise.about, premise.rounds, index < in_full)
        for index, premise in enumerate(premises)
    }
    fallen = {name: reason for name, reason in reasons.items() if not isinstance(reason, NoCounterexample)}
    gone = tuple(conjunct.name for conjunct in invariant.conjuncts if conjunct.name in left.without)
    return WeakenedInvariant(gone, fallen)


def _is_proved(question: InvariantObligation) -> bool:
    return decide_script(question.script, core=False).status == "unsat"
