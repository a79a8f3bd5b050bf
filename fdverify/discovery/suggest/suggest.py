"""What to add to a proof that is none: conjuncts that exclude the step that breaks it.

They are learned from explored states of small instances and are checked twice: over summarised buffers, which is fast,
then as every proof is.
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
"""How long what was begun before may take."""
_DECIDING_SECONDS = 60.0
_MOST_SUGGESTIONS = 3
_MOST_STATES = 60_000


@dataclass(frozen=True)
class _Proposal:
    conjuncts: tuple[SuggestedConjunct, ...]
    imports: tuple[str, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class _Proposed:
    proposals: tuple[_Proposal, ...]
    remark: str


def suggest(
    results: Sequence[ProofResult],
    settings: Settings,
    seconds: float | None,
    report: Callable[[str], None] = lambda text: None,
) -> list[ProofSuggestions]:
    """For each proof that a step breaks, what to add to it; in so many seconds all together."""
    deadline = None if seconds is None else monotonic() + seconds
    broken = [result for result in results if result.error is None and any(c.broken for c in result.checked)]
    found = []
    for result in broken:
        wrong = [each.question.about for each in result.checked if each.broken and each.broken.run is not None]
        if wrong:
            found.append(ProofSuggestions(result.path, (), _wrong(wrong[0])))
        else:
            found.append(strengthened(settings.case(result.path), settings, deadline, report))
    return found


def strengthened(
    case: Case,
    settings: Settings,
    deadline: float | None = None,
    report: Callable[[str], None] = lambda text: None,
    seconds: float = _SEARCHING_SECONDS,
) -> ProofSuggestions:
    """What to add to a proof that is none, if it is found in so many seconds."""
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
    found = [
        Suggestion(
            proposal.conjuncts,
            proposal.imports,
            tuple(q.name for q in proposal.questions if not _is_proved(outcomes[number, q.name])),
        )
        for number, proposal in enumerate(proposed.proposals)
    ]
    found.sort(key=lambda each: (len(each.unproved), len(each.conjuncts), sum(len(c.formula) for c in each.conjuncts)))
    return ProofSuggestions(case.path, tuple(found), proposed.remark)


def _is_proved(outcome: Outcome) -> bool:
    return outcome.error is None and outcome.lost is None and outcome.value.status == "unsat"


def _wrong(name: str) -> str:
    return f"{name} is false in a reachable state: no conjunct can help, it is wrong itself"


def _proposed(case: Case, seconds: float) -> _Proposed:
    """What a worker process does: learn, search, and write down what is to be checked."""
    until = monotonic() + seconds
    with case.at_home():
        invariant = case.invariant()
        invariant = replace(invariant, without=invariant.doubted)  # what is meant to fail is not to be proved
        learned: list[Sample] = []
        # The larger ones are for what would be learned from the small ones by accident.
        system = invariant.system
        instances = [*small_instances(system), *at_the_edge(system), *to_check_with(system)]
        for instance in instances:
            learned.append(sample(instance, _all_claims(invariant), _MOST_STATES // len(instances)))
            if learned[-1].violation is not None:
                return _Proposed((), _wrong(_first_false(invariant, learned[-1])))
        known = words(invariant)
        exclusion = Exclusion(system, known, learned)
        small = {p.name: p.small_values() for p in system.parameters if p.value is None}
        search = Strengthening(Relative(invariant, small), exclusion, until - monotonic())
        proving = search.proving(_MOST_SUGGESTIONS)
        if proving:
            return _Proposed(tuple(_proposal(invariant, clauses) for clauses in proving), "")
        tried = f"clauses over {len(known)} conditions that hold in {len(learned)} explored instances"
        remark = f"no conjuncts were found that make it a proof, among {tried}"
        return _Proposed(tuple(_proposal(invariant, [clause]) for clause in search.helping()[:1]), remark)


def _all_claims(invariant: Invariant) -> Property:
    claims = _claims(invariant)
    return Property("all", lambda s: And(*(claim.holds(s) for claim in claims)), "all claims of the proof")


def _claims(invariant: Invariant) -> list[Property]:
    return [each for each in (*invariant.conjuncts, *invariant.conclusions) if isinstance(each, Property)]


def _first_false(invariant: Invariant, found: Sample) -> str:
    """The claim that a violation breaks."""
    false = (each.name for each in _claims(invariant) if not found.column(each.holds(found.state)).all())
    return next(false, invariant.goal.name)


def _proposal(invariant: Invariant, clauses: Sequence[Clause]) -> _Proposal:
    names = conjunct_names(clauses, {conjunct.name for conjunct in invariant.conjuncts})
    named = list(zip(names, clauses, strict=True))
    stronger = replace(invariant, authored=(*invariant.authored, *(clause.named(name) for name, clause in named)))
    conjuncts = tuple(SuggestedConjunct(name, clause.source(), conjunct_text(clause, name)) for name, clause in named)
    return _Proposal(conjuncts, tuple(needed(clauses)), tuple(questions(stronger)))
