"""Suggestions for a proof that fails: conjuncts that exclude its counterexamples to induction.

They are learned from explored states of small instances and are checked twice: over summarised buffers, which is fast,
and then as the obligations of every proof are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

from fdverify.engines.instances import list_small_instances
from fdverify.invariant_search.clause import Clause
from fdverify.invariant_search.proof_vocabulary import collect_vocabulary
from fdverify.invariant_search.proof_writer import list_required_lines, name_conjuncts, render_conjunct
from fdverify.invariant_search.relative_induction import RelativeInduction
from fdverify.invariant_search.state_exclusion import StateExclusion
from fdverify.invariant_search.state_samples import (
    StateSample,
    list_edge_instances,
    list_validation_instances,
    sample_states,
)
from fdverify.invariant_search.strengthening import Strengthening
from fdverify.logic import And
from fdverify.models.system import Property
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.obligation import InvariantObligation
from fdverify.proofs.proof_result import ProofResult, ProofSuggestions, SuggestedConjunct, Suggestion
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.tasks import ProofCase, decide_obligation
from fdverify.workers.executor import Task, TaskOutcome
from fdverify.workers.pool import Pool

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
    questions: tuple[InvariantObligation, ...]


@dataclass(frozen=True)
class _ProposalSearchResult:
    """The proposals that a worker process found, and a remark if none of them completes the proof."""

    proposals: tuple[_Proposal, ...]
    remark: str


def suggest_conjuncts(
    results: Sequence[ProofResult],
    settings: ProofSettings,
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
            suggested.append(ProofSuggestions(result.path, (), _describe_false_claim(false_claims[0])))
        else:
            suggested.append(
                strengthen_proof(ProofCase.from_settings(result.path, settings), settings, deadline, report)
            )
    return suggested


def strengthen_proof(
    case: ProofCase,
    settings: ProofSettings,
    deadline: float | None = None,
    report: Callable[[str], None] = lambda text: None,
    seconds: float = _SEARCHING_SECONDS,
) -> ProofSuggestions:
    """Search for conjuncts that complete a proof that fails, within the time limit."""
    report(f"looking for conjuncts for {case.path.stem}")
    left = seconds if deadline is None else max(0.0, min(seconds, deadline - monotonic()))
    outcomes: dict[object, TaskOutcome] = {}

    def record_outcome(task: Task, outcome: TaskOutcome) -> list[Task]:
        outcomes[task.key] = outcome
        return []

    with Pool(settings.jobs, settings.memory_limit, [case]) as pool:
        search = Task("search", partial(_search_proposals, case, left), left + _FINISHING_SECONDS)
        pool.run_tasks([search], record_outcome, deadline)
        searched = outcomes["search"]
        if searched.error is not None:
            raise searched.error
        if searched.lost is not None:
            return ProofSuggestions(case.path, (), f"no conjuncts were found: {searched.lost}")
        proposed: _ProposalSearchResult = searched.value
        report(f"checking what was found for {case.path.stem}")
        tasks = [
            Task((number, question.name), partial(decide_obligation, question.script, None), _DECIDING_SECONDS)
            for number, proposal in enumerate(proposed.proposals)
            for question in proposal.questions
        ]
        pool.run_tasks(tasks, record_outcome, deadline)
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


def _is_proved(outcome: TaskOutcome) -> bool:
    return outcome.error is None and outcome.lost is None and outcome.value.status == "unsat"


def _describe_false_claim(name: str) -> str:
    return f"{name} is false in a reachable state: no conjunct can help, it is wrong itself"


def _search_proposals(case: ProofCase, seconds: float) -> _ProposalSearchResult:
    """Sample states, search for clauses, and write down the obligations to check; this runs in a worker process."""
    until = monotonic() + seconds
    loaded = case.load()
    with loaded.enter_author_context():
        # Conjuncts that are expected to fail are left out.
        invariant = replace(loaded.invariant, without=loaded.invariant.doubted)
        samples: list[StateSample] = []
        # The larger instances refute clauses that hold in the small ones only by accident.
        system = invariant.system
        instances = [*list_small_instances(system), *list_edge_instances(system), *list_validation_instances(system)]
        for instance in instances:
            samples.append(sample_states(instance, _build_conjunction(invariant), _MOST_STATES // len(instances)))
            if samples[-1].violation is not None:
                return _ProposalSearchResult((), _describe_false_claim(_find_first_false_claim(invariant, samples[-1])))
        vocabulary = collect_vocabulary(invariant)
        exclusion = StateExclusion(system, vocabulary, samples)
        small = {p.name: p.list_small_values() for p in system.parameters if p.value is None}
        search = Strengthening(RelativeInduction(invariant, small), exclusion, until - monotonic())
        proving = search.find_proving_sets(_MOST_SUGGESTIONS)
        if proving:
            return _ProposalSearchResult(tuple(_build_proposal(invariant, clauses) for clauses in proving), "")
        tried = f"clauses over {len(vocabulary)} conditions that hold in {len(samples)} explored instances"
        remark = f"no conjuncts were found that make it a proof, among {tried}"
        return _ProposalSearchResult(
            tuple(_build_proposal(invariant, [clause]) for clause in search.list_helping_clauses()[:1]), remark
        )


def _build_conjunction(invariant: Invariant) -> Property:
    claims = _list_claims(invariant)
    return Property("all", lambda s: And(*(claim.holds(s) for claim in claims)), "all claims of the proof")


def _list_claims(invariant: Invariant) -> list[Property]:
    return [claim for claim in (*invariant.conjuncts, *invariant.conclusions) if isinstance(claim, Property)]


def _find_first_false_claim(invariant: Invariant, violated: StateSample) -> str:
    """Return the name of the first claim that is false in a sampled state."""
    false = (
        claim.name for claim in _list_claims(invariant) if not violated.to_column(claim.holds(violated.state)).all()
    )
    return next(false, invariant.goal.name)


def _build_proposal(invariant: Invariant, clauses: Sequence[Clause]) -> _Proposal:
    names = name_conjuncts(clauses, {conjunct.name for conjunct in invariant.conjuncts})
    named = list(zip(names, clauses, strict=True))
    stronger = replace(invariant, authored=(*invariant.authored, *(clause.to_property(name) for name, clause in named)))
    conjuncts = tuple(
        SuggestedConjunct(name, clause.to_source(), render_conjunct(clause, name)) for name, clause in named
    )
    return _Proposal(conjuncts, tuple(list_required_lines(clauses)), tuple(build_obligations(stronger)))
