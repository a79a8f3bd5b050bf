"""Proofs that a formula suffices for all parameters, from the conjuncts of an existing proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from fdverify.bounds.detector_bound import ALL_PARAMETERS, Evidence
from fdverify.logic import Truth
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import State
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.verdict import Obligation, Verdict


def prove_with_conjuncts(
    conjuncts_of: Proof,
    model: Model,
    options: Mapping[str, OptionValue],
    goal: str | Callable[[State], Truth],
    assumption: Callable[[State], Truth] | None,
    deadline: float | None,
) -> Evidence | None:
    """Prove a goal under an assumption for arbitrary parameters, with the conjuncts of another proof.

    The proof is about ``model``, whatever model the conjuncts were written for.  Return ``None`` if it fails.
    """
    arguments: dict[str, Any] = {**options, "goal": goal if isinstance(goal, str) else None}
    proof = Proof(model, **arguments)
    if not isinstance(goal, str):
        proof.goal(goal)
    if assumption is not None:
        proof.assumption(assumption)
    proof.invariants(*conjuncts_of.predicates())
    obligations = _check_proof(proof, deadline)
    if obligations is None:
        return None
    number = len(conjuncts_of.predicates())
    return Evidence(ALL_PARAMETERS, f"by the {number} conjuncts of {conjuncts_of.source.file.name}", obligations)


def is_inductive(
    model: Model, options: Mapping[str, OptionValue], claim: Callable[[State], Truth], deadline: float | None
) -> bool:
    """Return whether the claim is proved to be inductive, with no other conjuncts than the declared ranges."""
    arguments: dict[str, Any] = {**options, "goal": None}
    proof = Proof(model, **arguments)
    proof.goal(claim)
    proof.invariants(name_predicate("The goal, as the only conjunct.", claim, "only_conjunct"))
    return _check_proof(proof, deadline) is not None


def _check_proof(proof: Proof, deadline: float | None) -> tuple[Obligation, ...] | None:
    left = None if deadline is None else max(0.1, deadline - monotonic())
    (result,) = check_proofs([proof], ProofSettings(cache=False, time_limit=left))
    if result.error is not None:
        raise result.error
    return tuple(result.obligations) if result.verdict is Verdict.PROVED else None


def name_predicate(meaning: str, predicate: Callable[[State], Any], name: str) -> Callable[[State], Any]:
    """Wrap a predicate as a proof needs it: as a function with a name and a docstring."""

    def evaluate_predicate(s: State) -> Any:
        return predicate(s)

    evaluate_predicate.__name__, evaluate_predicate.__doc__ = name, meaning
    return evaluate_predicate
