"""No mutant of the model or of a proof gets away: each is refuted by a step that replays, or is seen to be harmless.

The explorer, which knows nothing of proofs, has the last word at every Δ ≤ 3 and Φ ≤ 3.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from fdverify.engines.batch import truths
from fdverify.engines.cti import explain
from fdverify.engines.explore import Exploration, explored
from fdverify.engines.inductive import Broken, Invariant, Kind, questions
from fdverify.models.system import System
from fdverify.smt.decide import decide
from fdverify.traces.run import replay
from fdverify.verdict import Verdict, silent
from tests.proofs.mutants import (
    ANY,
    BIG,
    EVENTUALLY,
    HARMLESS,
    MODEL_MUTANTS,
    NOT_INDUCTIVE,
    PROOF_MUTANTS,
    PROOFS,
    RAISED_ON_EVERY_DELIVERY,
    TRUSTS_BEYOND_A_TIMEOUT,
    VIOLATED,
    ModelMutant,
    ProofMutant,
    proof,
)


def first_failure(invariant: Invariant, in_full: bool = False) -> tuple[Kind, Broken] | None:
    """The first obligation that fails, and the step against it; none if all are proved."""
    for question in questions(invariant):
        if decide(question.script).status != "unsat":
            broken = explain(invariant, question.kind, question.about, question.rounds, in_full)
            assert isinstance(broken, Broken), question.name
            return question.kind, broken
    return None


def check_step(invariant: Invariant, kind: Kind, broken: Broken) -> None:
    """The step replays: it keeps the invariant until its last state, in which the claim is false."""
    trace = replay(invariant.system, broken.step)
    states = [trace.initial, *(traced.after for traced in trace.rounds)]
    claims = (invariant.goal,) if kind is Kind.GOAL else invariant.conjuncts
    (claim,) = (claim for claim in claims if claim.name == broken.about)
    inside = {Kind.INITIATION: [], Kind.CONSECUTION: states[:-1], Kind.GOAL: states}[kind]
    assert (broken.step.start is None) == (kind is Kind.INITIATION)
    assert all(conjunct.holds(state) is True for state in inside for conjunct in invariant.conjuncts)
    assert claim.holds(states[-1]) is False


def small(system: System) -> Iterator[System]:
    """The system at every Δ ≤ 3 and Φ ≤ 3; if the first timeout is arbitrary, with a small and a safe one."""
    for delta, phi in product(range(4), range(1, 4)):
        fixed = system.at({"delta": delta, "phi": phi})
        if "initial_timeout" not in fixed.arbitrary():
            yield fixed
            continue
        for timeout in (1, 6 * phi + delta, 6 * phi + delta + 4):
            candidate = fixed.at({"initial_timeout": timeout})
            if all(assumption.holds(State(candidate.parameter_values())) for assumption in system.assumptions):
                yield candidate
