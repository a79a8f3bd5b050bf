"""Search methods for inductive invariants: templates, and Z3's Spacer.

A method writes what it finds as a proof file.  It does not decide whether the file proves the property: that is left to
the checker of proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from fdverify.engines.bmc import bmc
from fdverify.engines.instances import list_small_instances
from fdverify.invariant_search.clause import Clause
from fdverify.invariant_search.clause_templates import build_candidates
from fdverify.invariant_search.houdini import Houdini
from fdverify.invariant_search.proof_writer import render_proof_file
from fdverify.invariant_search.spacer import SpacerQuery
from fdverify.invariant_search.state_samples import StateSample, list_validation_instances, sample_states
from fdverify.invariant_search.summarised_round import SummarisedRound, build_summarised_round
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import Property, System
from fdverify.runs.run import Run
from fdverify.verdict import Verdict

_MOST_CONDITIONS = (2, 3)
_DEEPEST_SEARCH = 100


@dataclass(frozen=True)
class InferredProof:
    """The text of a proof file, and the number of its conjuncts."""

    text: str
    conjuncts: int


@dataclass(frozen=True)
class RefutingRun:
    """A replayed run that violates the property."""

    run: Run


@dataclass(frozen=True)
class NoInvariant:
    """The reason why a method found neither an invariant nor a violation."""

    why: str


@dataclass(frozen=True)
class SampleSet:
    """Samples of small instances to learn from, and of larger ones, in which accidental clauses fail."""

    small: list[StateSample]
    larger: list[StateSample]

    @property
    def all(self) -> list[StateSample]:
        return [*self.small, *self.larger]


Finding = InferredProof | RefutingRun | NoInvariant


def search_templates(request: CheckRequest, seed: int) -> Finding:
    """Search the clauses that hold in explored states for an inductive invariant."""

    def find_clauses(
        system: System, claim: Property, step: SummarisedRound, samples: SampleSet
    ) -> list[Clause] | NoInvariant:
        for with_sums, most in product((False, True), _MOST_CONDITIONS):
            clauses = build_candidates(system, samples.small, most, with_sums)
            enough = _select_sufficient_clauses(step, claim, samples.all, clauses, seed)
            if enough is not None:
                return enough
        return NoInvariant("no inductive invariant among the templates")

    return _run_method(request, find_clauses)


def search_with_spacer(request: CheckRequest, seed: int) -> Finding:
    """Search the clauses that Spacer infers for each control state for a small inductive invariant."""

    def find_clauses(
        system: System, claim: Property, step: SummarisedRound, samples: SampleSet
    ) -> list[Clause] | NoInvariant:
        spacer = SpacerQuery(step, claim, seed)
        refuted = spacer.can_violate()
        if refuted is not False:
            return NoInvariant("Spacer found an abstract counterexample" if refuted else "Spacer gave up")
        # Spacer has no clauses for unreachable control states, so clauses that exclude them are added.
        settled = build_candidates(system, samples.small, 0)
        enough = _select_sufficient_clauses(step, claim, samples.all, [*spacer.enumerate_clauses(), *settled], seed)
        return (
            NoInvariant("Spacer's invariant cannot be written as clauses over the model's variables")
            if enough is None
            else enough
        )

    return _run_method(request, find_clauses)


def search_violation(request: CheckRequest, seed: int) -> Finding:
    """Search for a run that violates the property, by bounded model checking, not only at small parameters."""
    system = request.build_system()
    result = bmc(system, request.find_property(system), _DEEPEST_SEARCH)
    if result.verdict is Verdict.VIOLATED and result.run is not None:
        return RefutingRun(result.run)
    return NoInvariant(f"no run of at most {_DEEPEST_SEARCH} rounds violates it")


METHODS: dict[str, Callable[[CheckRequest, int], Finding]] = {
    "templates": search_templates,
    "spacer": search_with_spacer,
}


def _run_method(
    request: CheckRequest, find: Callable[[System, Property, SummarisedRound, SampleSet], list[Clause] | NoInvariant]
) -> Finding:
    system = request.build_system()
    claim = request.find_property(system)
    small, larger = (
        [sample_states(instance, claim) for instance in list_instances(system)]
        for list_instances in (list_small_instances, list_validation_instances)
    )
    samples = SampleSet(small, larger)
    violations = [taken.violation for taken in samples.all if taken.violation is not None]
    if violations:
        return RefutingRun(violations[0])
    clauses = find(system, claim, build_summarised_round(system), samples)
    if isinstance(clauses, NoInvariant):
        return clauses
    return InferredProof(render_proof_file(request, system, clauses), len(clauses))


def _select_sufficient_clauses(
    step: SummarisedRound, claim: Property, samples: Iterable[StateSample], clauses: Iterable[Clause], seed: int
) -> list[Clause] | None:
    """Select clauses that hold in the samples, are inductive together and imply the claim."""
    holding = [
        clause
        for clause in dict.fromkeys(clauses)
        if all(taken.to_column(clause.holds(taken.state)).all() for taken in samples)
    ]
    houdini = Houdini(step, holding, seed)
    return houdini.find_sufficient(houdini.find_inductive(), claim)
