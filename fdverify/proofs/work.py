"""The tasks of a proof.  Worker processes load the file themselves and return plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fdverify.engines.inductive import Broken, Invariant, Kind, Question, Unbroken, Undecided, questions
from fdverify.engines.parameters import check_parameters
from fdverify.errors import FdverifyError, located
from fdverify.liveness.argument import Argument, Bound
from fdverify.models.model import OptionValue
from fdverify.models.system import System
from fdverify.models.user_files import blaming, contents_read, loaded_file, neighbours_importable
from fdverify.proofs.files import load_proof
from fdverify.proofs.proof import Proof, Source
from fdverify.smt.cache import Cache
from fdverify.smt.decide import Decision, decide
from fdverify.smt.script import Script
from fdverify.storage import digest
from fdverify.traces.run import rounds
from fdverify.traces.steps import ShownRun, show_run
from fdverify.verdict import Obligation

if TYPE_CHECKING:
    from fdverify.author_code.check import AuthorCodeReport


@dataclass(frozen=True)
class Case:
    """A proof, as a file or as an object, with parameters, options and the depth k of the induction."""

    source: Path | Proof
    parameters: Mapping[str, int]
    options: Mapping[str, OptionValue]
    k: int

    @property
    def path(self) -> Path:
        return self.source if isinstance(self.source, Path) else self.source.source.file

    def proof(self) -> Proof:
        return load_proof(self.source) if isinstance(self.source, Path) else self.source

    def invariant(self) -> Invariant:
        return self.proof().at(self.parameters, self.options, self.k)

    @contextmanager
    def at_home(self) -> Iterator[None]:
        """Set up for running the author's code: it can import files beside it, and its errors name its lines."""
        if not isinstance(self.source, Path):
            with blaming(self.path):
                yield
            return
        model = loaded_file(self.proof().model.build)
        with neighbours_importable(self.source, model), blaming(self.path), blaming(model or self.path):
            yield


@dataclass(frozen=True)
class Loaded:
    """The files that were read for a proof, with the digests of their contents, and the error if loading failed."""

    files: Mapping[Path, str]
    error: FdverifyError | None


def load(case: Case) -> Loaded:
    """Run the file and do nothing else: it may not terminate."""
    try:
        case.proof()
    except FdverifyError as error:
        return Loaded(_files(case), error)
    return Loaded(_files(case), None)


def _files(case: Case) -> dict[Path, str]:
    return {path: digest(content) for path, content in contents_read(case.path).items()}


@dataclass(frozen=True)
class Subject:
    """The description of a proof, for reports."""

    model: str
    options: Mapping[str, str]
    parameters: Mapping[str, int | str]
    goal: str
    goal_meaning: str
    meanings: Mapping[str, str]
    sources: Mapping[str, str]
    begins: Source
    """The line of the file that makes the proof."""
    definitions: Mapping[str, Source]
    doubted: tuple[str, ...]
    """Conjuncts that are meant to fail.  Only their own obligations assume them."""
    hints: Mapping[str, str]
    """The author's advice for claims that fail."""
    assumptions: Mapping[str, str]
    k: int
    reduction: str | None
    """The reduction that proves a liveness goal."""
    bounds: tuple[Bound, ...]
    fairness: Mapping[str, str]
    """The fairness assumptions of a liveness goal: what holds infinitely often."""

    def meaning(self, about: str) -> str:
        """Return the meaning of a conjunct, a premise or the goal."""
        return self.meanings.get(about, self.goal_meaning)


@dataclass(frozen=True)
class Prepared:
    """The obligations of a proof; each has a flag that tells whether the cache holds a proof of it."""

    subject: Subject
    questions: tuple[tuple[Question, bool], ...]
    files: Mapping[Path, str]
    """The files read by loading the proof, and those imported since."""


@dataclass(frozen=True)
class WitnessShown:
    """A witness run as plain data, and what holds at its end."""

    shows: str
    run: ShownRun


@dataclass(frozen=True)
class VacuityShown:
    """The results of the vacuity check, with runs as plain data."""

    obligations: tuple[Obligation, ...]
    detail: str
    notes: tuple[str, ...]
    witnesses: tuple[WitnessShown, ...]
    dead_end: ShownRun | None
    false: tuple[str, ...]


@dataclass(frozen=True)
class BrokenShown:
    """A counterexample to induction as plain data.  ``words`` tell whether a run reaches it, ``run`` is that run."""

    step: ShownRun
    words: str
    run: ShownRun | None
    breaks_goal: bool


def prepare(case: Case, cache_root: Path | None) -> Prepared:
    """Generate the obligations, and look each of them up in the cache."""
    proof = case.proof()
    cache = None if cache_root is None else Cache(cache_root)
    with case.at_home():
        invariant = case.invariant()
        check_parameters(invariant.system)
        obligations = tuple((q, cache is not None and cache.proved(q.script)) for q in questions(invariant))
    goal = invariant.goal
    subject = Subject(
        model=invariant.system.name,
        options=invariant.system.options,
        parameters=invariant.system.described_parameters(),
        goal=goal.name,
        goal_meaning=goal.meaning,
        meanings={claim.name: claim.meaning for claim in (*invariant.conjuncts, *invariant.conclusions)},
        sources={name: str(source) for name, source in proof.sources.items()},
        begins=proof.source,
        definitions=proof.definitions(),
        doubted=tuple(claim.name for claim in invariant.authored if claim.name in invariant.doubted),
        hints=proof.hints(),
        assumptions=proof.assumed(),
        k=case.k,
        reduction=goal.reduction if isinstance(goal, Argument) else None,
        bounds=goal.bounds if isinstance(goal, Argument) else (),
        fairness={claim.name: claim.meaning for claim in goal.fairness} if isinstance(goal, Argument) else {},
    )
    return Prepared(subject, obligations, _files(case))


def decided(script: Script, cache_root: Path | None, seed: int = 0) -> Decision:
    """Decide an obligation, and record a proof in the cache."""
    decision = decide(script, seed, core=cache_root is not None)
    if decision.status == "unsat" and cache_root is not None:
        Cache(cache_root).remember(script, decision)
    return decision


def second_opinion(script: Script, solver: str) -> Decision:
    from fdverify.smt.second import second_opinion  # pysmt is slow to import and rarely needed

    return second_opinion(script, solver)


def explained(case: Case, kind: Kind, about: str, depth: int, in_full: bool) -> BrokenShown | Unbroken | Undecided:
    """Find a counterexample to induction for a failed obligation; if ``in_full``, also search for a run to it."""
    from fdverify.engines.cti import explain  # this imports numpy, which a successful check does not need

    with case.at_home():
        invariant = case.invariant()
        result = explain(invariant, kind, about, depth, in_full)
    return result if isinstance(result, Unbroken | Undecided) else _shown(invariant.system, result, _words(result))


def fallen(case: Case, failed: frozenset[str], in_full: int) -> dict[str, BrokenShown | Undecided]:
    """Find the premises of an argument that do not hold without the failed conjuncts, each with a counterexample."""
    from fdverify.engines.weaken import weakened

    with case.at_home():
        invariant = case.invariant()
        remaining = weakened(invariant, failed, in_full)
    without = f"without {', '.join(remaining.gone)}, the invariant does not imply it"
    return {
        name: reason
        if isinstance(reason, Undecided)
        else _shown(invariant.system, reason, f"{without}; {_words(reason)}")
        for name, reason in remaining.fallen.items()
    }


def _shown(system: System, counterexample: Broken, words: str) -> BrokenShown:
    run = None if counterexample.reached is None else counterexample.reached.run
    return BrokenShown(
        step=show_run(system, counterexample.step),
        words=words,
        run=None if run is None else show_run(system, run),
        breaks_goal=counterexample.breaks_goal,
    )


def _words(counterexample: Broken) -> str:
    reached = counterexample.reached
    if reached is None:
        return "its reachability was not checked"
    if reached.run is not None:
        claim = "the goal" if counterexample.breaks_goal else counterexample.about
        return f"{claim} is false in a reachable state, after {rounds(reached.rounds)}"
    if reached.complete:
        return "not reached: at these parameters it holds in every reachable state; the invariant needs strengthening"
    return f"not reached within {rounds(reached.rounds)}: perhaps the invariant needs strengthening"


def compared(case: Case, cache_root: Path | None) -> AuthorCodeReport:
    """Refuse an author's function that the engines interpret differently; skip the comparison if it is in the cache."""
    from fdverify.author_code.check import PassedBefore, check_author_code, key_of

    proof, files = case.proof(), _files(case)
    with case.at_home():
        invariant = case.invariant()
        claims = proof.called(invariant)
        key = None if cache_root is None else key_of(invariant.system, claims, files)
        if cache_root is None or key is None:
            return check_author_code(invariant.system, claims)
        passed = PassedBefore(cache_root)
        known = passed.find(key)
        report = check_author_code(invariant.system, claims) if known is None else known
    if known is None and _files(case) == files:  # the key does not cover files imported meanwhile
        passed.keep(key, report)
    return report


def vacuous(case: Case, cache_root: Path | None) -> tuple[AuthorCodeReport, VacuityShown]:
    """Compare the author's functions and check for vacuity, in one task: both need the same small instances."""
    report = compared(case, cache_root)
    return report, _vacuity(case)


def _vacuity(case: Case) -> VacuityShown:
    from fdverify.engines.vacuity import vacuity

    with case.at_home():
        invariant = case.invariant()
        result = vacuity(invariant)
    places = [(premise.claim, located(premise.place.file, premise.place.line)) for premise in result.unmet]
    notes = [f"{claim}: the premise at {place} was not met in the runs looked at" for claim, place in places]
    notes += [f"there was no {event} in the runs looked at" for event in result.unseen]
    notes += [f"phase {phase} changed nothing in the runs looked at" for phase in result.idle]
    notes += result.remarks
    return VacuityShown(
        result.obligations,
        result.detail,
        tuple(notes),
        tuple(WitnessShown(witness.shows, show_run(invariant.system, witness.run)) for witness in result.witnesses),
        None if result.dead_end is None else show_run(invariant.system, result.dead_end),
        result.false,
    )
