"""The catalogue of mutants: detectors and proofs with one thing changed, each with the verdict it must get.

A mutant of the model breaks one phase, or moves it; a mutant of a proof weakens, sharpens or drops one conjunct.  One
that is declared proved is harmless: nothing it changes can be seen in a reachable state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from fdverify.models.system import Choices, Property, State, System
from fdverify.obligations.inductive import Invariant
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import load_proof
from fdverify.verdict import Verdict

INVARIANTS = Path(__file__).parents[2] / "invariants"
ACCURACY, EVENTUALLY = "strong_accuracy", "eventually_strong_accuracy"
FIXED, BIG, ANY = (f"strong_completeness_{timeout}_timeout" for timeout in ("fixed", "big", "any"))
PROOFS = (ACCURACY, EVENTUALLY, FIXED, BIG, ANY)
"""Those whose goals are about states; the others' premises have tests of their own."""

VIOLATED, NOT_INDUCTIVE, HARMLESS = Verdict.VIOLATED, Verdict.NOT_INDUCTIVE, Verdict.PROVED

Change: TypeAlias = Callable[[System], System]
Effect: TypeAlias = Callable[[State, Choices, Mapping[str, Any]], Any]
"""A variable's new value: of the state before the phase, the choices, and what the phase would have set."""
Conjuncts: TypeAlias = tuple[Property, ...]


@cache
def proof(stem: str) -> Proof:
    return load_proof(INVARIANTS / f"{stem}.py")


@dataclass(frozen=True)
class ModelMutant:
    """A detector with one phase wrong, and a proof about the detector as it should be."""

    phase: str
    name: str
    variant: str
    proof: str
    expected: Verdict
    change: Change

    def __str__(self) -> str:
        return f"{self.phase}: {self.name} ({self.variant}, {self.proof})"

    def invariant(self) -> Invariant:
        original = proof(self.proof).build_invariant({}, {"variant": self.variant})
        return replace(original, system=self.change(original.system))


@dataclass(frozen=True)
class ProofMutant:
    """A proof with one conjunct wrong or missing, about the detector as it is."""

    proof: str
    name: str
    variant: str
    expected: Verdict
    change: Callable[[Conjuncts], Conjuncts]

    def __str__(self) -> str:
        return f"{self.proof}: {self.name} ({self.variant})"

    def invariant(self) -> Invariant:
        original = proof(self.proof).build_invariant({}, {"variant": self.variant})
        return replace(original, authored=self.change(original.authored))
