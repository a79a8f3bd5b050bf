"""An inductive invariant with no help: from templates, or from Spacer.

Whoever finds one writes it as a proof file; that the file proves the property is another question, and asked of the
machinery that checks every proof.
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
    """The text of a proof file, and how many conjuncts it has."""

    text: str
    conjuncts: int


@dataclass(frozen=True)
class Refuted:
    """A replayed run that breaks the property."""

    run: Run


@dataclass(frozen=True)
class NotFound:
    why: str


@dataclass(frozen=True)
class Samples:
    """Small instances to learn from, and larger ones, in which what was learned by accident fails."""

    small: list[Sample]
    larger: list[Sample]

    @property
    def all(self) -> list[Sample]:
        return [*self.small, *self.larger]


Finding = Invented | Refuted | NotFound


def by_templates(job: CheckRequest, seed: int) -> Finding:
    """Clauses that hold in explored states, and of those the inductive ones."""

    def found(system: System, claim: Property, step: SummarisedRound, samples: Samples) -> list[Clause] | NotFound:
        for with_sums, most in product((False, True), _MOST_CONDITIONS):
            clauses = candidates(system, samples.small, most, with_sums)
            enough = _enough(step, claim, samples.all, clauses, seed)
            if enough is not None:
                return enough
        return NotFound("no inductive invariant among the templates")

    return _invented(job, found)


def by_spacer(job: CheckRequest, seed: int) -> Finding:
    """What Spacer knows of every place, and of that what is needed."""

    def found(system: System, claim: Property, step: SummarisedRound, samples: Samples) -> list[Clause] | NotFound:
        spacer = Spacer(step, claim, seed)
        refuted = spacer.refuted()
        if refuted is not False:
            return NotFound("Spacer finds a way to break it" if refuted else "Spacer gives up")
        # What no program counter or flag ever is, Spacer says by having no states there at all.
        settled = candidates(system, samples.small, 0)
        enough = _enough(step, claim, samples.all, [*spacer.clauses(), *settled], seed)
        return NotFound("what Spacer found cannot be said in the model's words") if enough is None else enough

    return _invented(job, found)


def by_search(job: CheckRequest, seed: int) -> Finding:
    """No invariant: a run that breaks the property, at parameters that nobody has tried."""
    system = job.system()
    result = bmc(system, job.property_of(system), _DEEPEST_SEARCH)
    if result.verdict is Verdict.VIOLATED and result.run is not None:
        return Refuted(result.run)
    return NotFound(f"no run of at most {_DEEPEST_SEARCH} rounds breaks it")


METHODS: dict[str, Callable[[CheckRequest, int], Finding]] = {"templates": by_templates, "spacer": by_spacer}


def _invented(
    job: CheckRequest, find: Callable[[System, Property, SummarisedRound, Samples], list[Clause] | NotFound]
) -> Finding:
    system = job.system()
    claim = job.property_of(system)
    small, larger = ([sample(each, claim) for each in some(system)] for some in (small_instances, to_check_with))
    samples = Samples(small, larger)
    violations = [each.violation for each in samples.all if each.violation is not None]
    if violations:
        return Refuted(violations[0])
    found = find(system, claim, summarised_round(system), samples)
    if isinstance(found, NotFound):
        return found
    return Invented(proof_text(job, system, found), len(found))


def _enough(
    step: SummarisedRound, claim: Property, samples: Iterable[Sample], clauses: Iterable[Clause], seed: int
) -> list[Clause] | None:
    """Some of the clauses that are inductive together and imply the claim."""
    holding = [
        clause
        for clause in dict.fromkeys(clauses)
        if all(each.column(clause.holds(each.state)).all() for each in samples)
    ]
    houdini = Houdini(step, holding, seed)
    return houdini.enough(houdini.inductive(), claim)
