"""Search methods for inductive invariants: templates, and Z3's Spacer.

A method writes what it finds as a proof file.  It does not decide whether the file proves the property: that is left to
the checker of proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from fdverify.discovery.clauses.clause import Clause
from fdverify.discovery.clauses.proof_file import proof_text
from fdverify.discovery.clauses.round import SummarisedRound, summarised_round
from fdverify.discovery.clauses.samples import Sample, sample, to_check_with
from fdverify.discovery.infer.houdini import Houdini
from fdverify.discovery.infer.spacer import Spacer
from fdverify.discovery.infer.templates import candidates
from fdverify.engines.bmc import bmc
from fdverify.engines.parameters import small_instances
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import Property, System
from fdverify.traces.run import Run
from fdverify.verdict import Verdict

_MOST_CONDITIONS = (2, 3)
_DEEPEST_SEARCH = 100


@dataclass(frozen=True)
class Invented:
    """The text of a proof file, and the number of its conjuncts."""

    text: str
    conjuncts: int


@dataclass(frozen=True)
class Refuted:
    """A replayed run that violates the property."""

    run: Run


@dataclass(frozen=True)
class NotFound:
    """The reason why a method found neither an invariant nor a violation."""

    why: str


@dataclass(frozen=True)
class Samples:
    """Samples of small instances to learn from, and of larger ones, in which accidental clauses fail."""

    small: list[Sample]
    larger: list[Sample]

    @property
    def all(self) -> list[Sample]:
        return [*self.small, *self.larger]


Finding = Invented | Refuted | NotFound


def by_templates(job: CheckRequest, seed: int) -> Finding:
    """Search the clauses that hold in explored states for an inductive invariant."""

    def found(system: System, claim: Property, step: SummarisedRound, samples: Samples) -> list[Clause] | NotFound:
        for with_sums, most in product((False, True), _MOST_CONDITIONS):
            clauses = candidates(system, samples.small, most, with_sums)
            enough = _enough(step, claim, samples.all, clauses, seed)
            if enough is not None:
                return enough
        return NotFound("no inductive invariant among the templates")

    return _invented(job, found)


def by_spacer(job: CheckRequest, seed: int) -> Finding:
    """Search the clauses that Spacer infers for each control state for a small inductive invariant."""

    def found(system: System, claim: Property, step: SummarisedRound, samples: Samples) -> list[Clause] | NotFound:
        spacer = Spacer(step, claim, seed)
        refuted = spacer.refuted()
        if refuted is not False:
            return NotFound("Spacer found an abstract counterexample" if refuted else "Spacer gave up")
        # Spacer has no clauses for unreachable control states, so clauses that exclude them are added.
        settled = candidates(system, samples.small, 0)
        enough = _enough(step, claim, samples.all, [*spacer.clauses(), *settled], seed)
        return (
            NotFound("Spacer's invariant cannot be written as clauses over the model's variables")
            if enough is None
            else enough
        )

    return _invented(job, found)


def by_search(job: CheckRequest, seed: int) -> Finding:
    """Search for a run that violates the property, by bounded model checking, not only at small parameters."""
    system = job.system()
    result = bmc(system, job.property_of(system), _DEEPEST_SEARCH)
    if result.verdict is Verdict.VIOLATED and result.run is not None:
        return Refuted(result.run)
    return NotFound(f"no run of at most {_DEEPEST_SEARCH} rounds violates it")


METHODS: dict[str, Callable[[CheckRequest, int], Finding]] = {"templates": by_templates, "spacer": by_spacer}


def _invented(
    job: CheckRequest, find: Callable[[System, Property, SummarisedRound, Samples], list[Clause] | NotFound]
) -> Finding:
    system = job.system()
    claim = job.property_of(system)
    small, larger = (
        [sample(instance, claim) for instance in list_instances(system)]
        for list_instances in (small_instances, to_check_with)
    )
    samples = Samples(small, larger)
    violations = [taken.violation for taken in samples.all if taken.violation is not None]
    if violations:
        return Refuted(violations[0])
    clauses = find(system, claim, summarised_round(system), samples)
    if isinstance(clauses, NotFound):
        return clauses
    return Invented(proof_text(job, system, clauses), len(clauses))


def _enough(
    step: SummarisedRound, claim: Property, samples: Iterable[Sample], clauses: Iterable[Clause], seed: int
) -> list[Clause] | None:
    """Select clauses that hold in the samples, are inductive together and imply the claim."""
    holding = [
        clause
        for clause in dict.fromkeys(clauses)
        if all(taken.column(clause.holds(taken.state)).all() for taken in samples)
    ]
    houdini = Houdini(step, holding, seed)
    return houdini.enough(houdini.inductive(), claim)
