"""The shipped liveness proofs, about the detector as it is and about broken ones."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fdverify.detectors.model_catalogue import find_model
from fdverify.liveness.argument import Argument
from fdverify.models.system import State
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.obligation import InvariantObligation, ObligationKind
from fdverify.proofs.proof_files import load_proof
from fdverify.smt.decide import decide_script

ROOT = Path(__file__).parents[2]
TRUST, SUSPICION, ASYNCHRONOUS = "eventual_trust", "lasting_suspicion", "asynchronous_completeness"


def shipped(stem: str, **options: Any) -> Invariant:
    return load_proof(ROOT / "invariants" / f"{stem}.py").build_invariant({}, options)


def about(stem: str, broken: str) -> Invariant:
    """A shipped proof, about one of the broken detectors."""
    proof = load_proof(ROOT / "invariants" / f"{stem}.py")
    original, proof.model = proof.model, find_model(f"{ROOT / 'examples' / 'broken_detectors.py'}:{broken}")
    try:
        return proof.build_invariant({}, {})
    finally:
        proof.model = original


def with_term(stem: str, name: str, change: Callable[[Any, State], Any]) -> Invariant:
    """A shipped proof in which one term is another one, made of its value and of the state."""
    proof = load_proof(ROOT / "invariants" / f"{stem}.py")
    given = proof.terms
    original = given[name]
    given[name] = lambda s: change(original(s), s)
    try:
        return proof.build_invariant({}, {})
    finally:
        given[name] = original


def argument(invariant: Invariant) -> Argument:
    assert isinstance(invariant.goal, Argument)
    return invariant.goal


def unproved(invariant: Invariant) -> list[InvariantObligation]:
    return [
        question
        for question in build_obligations(invariant)
        if decide_script(question.script, core=False).status != "unsat"
    ]


def unproved_premises(invariant: Invariant) -> set[str]:
    return {question.name for question in unproved(invariant) if question.kind is ObligationKind.PREMISE}


def without(invariant: Invariant, *names: str) -> Invariant:
    return replace(invariant, without=frozenset(names))
