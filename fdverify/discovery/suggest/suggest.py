"""Suggestions for a proof that fails: conjuncts that exclude its counterexamples to induction.

They are learned from explored states of small instances and are checked twice: over summarised buffers, which is fast,
and then as the obligations of every proof are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

from fdverify.discovery.clauses.clause import Clause
from fdverify.discovery.clauses.proof_file import conjunct_names, conjunct_text, needed
from fdverify.discovery.clauses.samples import Sample, at_the_edge, sample, to_check_with
from fdverify.discovery.suggest.exclusion import Exclusion
from fdverify.discovery.suggest.relative import Relative
from fdverify.discovery.suggest.strengthen import Strengthening
from fdverify.discovery.suggest.vocabulary import words
from fdverify.engines.inductive import Invariant, Question, questions
from fdverify.engines.parameters import small_instances
from fdverify.logic import And
from fdverify.models.system import Property
from fdverify.proofs.course import Settings
from fdverify.proofs.result import ProofResult
from fdverify.proofs.suggestion import ProofSuggestions, SuggestedConjunct, Suggestion
from fdverify.proofs.work import Case, decided
from fdverify.smt.pool import Outcome, Pool, Task

_SEARCHING_SECONDS = 90.0
_FINISHING_SECONDS = 40.0
"""How long the search may overrun, to finish the query that it has begun."""
_DECIDING_SECONDS = 60.0
_MOST_SUGGESTIONS = 3
_MOST_STATES = 60_000


@dataclass(frozen=True)
class _Proposal:
    """Conjuncts to add, and the obligations that have to be decided with them."""

    conjuncts: tuple[SuggestedConjunct, ...]
    imports: tuple[str, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class _Proposed:
    """The proposals that a worker process found, and a remark if none of them completes the proof."""

    proposals: tuple[_Proposal, ...]
    remark: str


def suggest(
    results: Sequence[ProofResult],
    settings: Settings,
    seconds: float | None,
    report: Callable[[str], None] = lambda text: None,
) -> list[ProofSuggestions]:
    """Suggest conjuncts for each proof that has a counterexample to induction; the time limit is for all of them."""
    deadline = None if seconds is None else monotonic() + seconds
    broken = [result for result in results if result.error is None and any(c.broken for c in result.checked)]
    suggested = []
    for result in broken:
        false_claims = [c.question.about for c in result.checked if c.broken and c.broken.run is not None]
        if false_claims:
            suggested.append(ProofSuggestions(result.path, (), _wrong(false_claims[0])))
        else:
            suggested.append(strengthened(settings.case(result.path), settings, deadline, report))
    return suggested


def strengthened(
    case: Case,
    settings: Settings,
    deadline: float | None = None,
    report: Callable[[str], None] = lambda text: None,
    seconds: float = _SEARCHING_SECONDS,
) -> ProofSuggestions:
    """Search for conjuncts that complete a proof that fails, within the time limit."""
    report(f"looking for conjuncts for {case.path.stem}")
    left = seconds if deadline is None else max(0.0, min(seconds, deadline - monotonic()))
    outcomes: dict[object, Outcome] = {}

    def finished(task: Task, outcome: Outcome) -> list[Task]:
        outcomes[task.key] = outcome
        return []

    with Pool(settings.jobs, settings.memory_limit, [case]) as pool:
        search = Task("search", partial(_proposed, case, left), left + _FINISHING_SECONDS)
        pool.run([search], finished, deadline)
        searched = outcomes["search"]
        if searched.error is not None:
            raise searched.error
        if searched.lost is not None:
            return ProofSuggestions(case.path, (), f"no conjuncts were found: {searched.lost}")
        proposed: _Proposed = searched.value
        report(f"checking what was found for {case.path.stem}")
        tasks = [
            Task((number, question.name), partial(decided, question.script, None), _DECIDING_SECONDS)
            for number, proposal in enumerate(proposed.proposals)
            for question in proposal.questions
        ]
        pool.run(tasks, finished, deadline)
    suggestions = [
        Suggestion(
            proposal.conjuncts,
            proposal.imports,
            tuple(q.name for q in proposal.questions if not _is_proved(outcomes[number, q.name])),
        )
        for number, proposal in enumerate(proposed.proposals)
    ]
    suggestions.sort(key=lambda s: (len(s.unproved), len(s.conjuncts), sum(len(c.formula) for c in s.conjuncts)))
    return ProofSuggestions(case.path, tuple(suggestions), proposed.remark)


def _is_proved(outcome: Outcome) -> bool:
    return outcome.error is None and outcome.lost is None and outcome.value.status == "unsat"


def _wrong(name: str) -> str:
    return f"{name} is false in a reachable state: no conjunct can help, it is wrong itself"


def _proposed(case: Case, seconds: float) -> _Proposed:
    """Sample states, search for clauses, and write down the obligations to check; this runs in a worker process."""
    until = monotonic() + seconds
    with case.at_home():
        invariant = case.invariant()
        invariant = replace(invariant, without=invariant.doubted)  # conjuncts that are expected to fail are left out
        samples: list[Sample] = []
        # The larger instances refute clauses that hold in the small ones only by accident.
        system = invariant.system
        instances = [*small_instances(system), *at_the_edge(system), *to_check_with(system)]
        for instance in instances:
            samples.append(sample(instance, _all_claims(invariant), _MOST_STATES // len(instances)))
            if samples[-1].violation is not None:
                return _Proposed((), _wrong(_first_false(invariant, samples[-1])))
        vocabulary = words(invariant)
        exclusion = Exclusion(system, vocabulary, samples)
        small = {p.name: p.small_values() for p in system.parameters if p.value is None}
        search = Strengthening(Relative(invariant, small), exclusion, until - monotonic())
        proving = search.proving(_MOST_SUGGESTIONS)
        if proving:
            return _Proposed(tuple(_proposal(invariant, clauses) for clauses in proving), "")
        tried = f"clauses over {len(vocabulary)} conditions that hold in {len(samples)} explored instances"
        remark = f"no conjuncts were found that make it a proof, among {tried}"
        return _Proposed(tuple(_proposal(invariant, [clause]) for clause in search.helping()[:1]), remark)


def _all_claims(invariant: Invariant) -> Property:
    claims = _claims(invariant)
    return Property("all", lambda s: And(*(claim.holds(s) for claim in claims)), "all claims of the proof")


def _claims(invariant: Invariant) -> list[Property]:
    return [claim for claim in (*invariant.conjuncts, *invariant.conclusions) if isinstance(claim, Property)]


def _first_false(invariant: Invariant, violated: Sample) -> str:
    """Return the name of the first claim that is false in a sampled state."""
    false = (claim.name for claim in _claims(invariant) if not violated.column(claim.holds(violated.state)).all())
    return next(false, invariant.goal.name)


def _proposal(invariant: Invariant, clauses: Sequence[Clause]) -> _Proposal:
    names = conjunct_names(clauses, {conjunct.name for conjunct in invariant.conjuncts})
    named = list(zip(names, clauses, strict=True))
    stronger = replace(invariant, authored=(*invariant.authored, *(clause.named(name) for name, clause in named)))
    conjuncts = tuple(SuggestedConjunct(name, clause.source(), conjunct_text(clause, name)) for name, clause in named)
    return _Proposal(conjuncts, tuple(needed(clauses)), tuple(questions(stronger)))
