"""What worker processes do for a proof.  They load the file themselves and hand back plain data."""

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
    """Which proof, of a file or at hand, at which parameters and options."""

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
        """Where the author's code runs: beside its neighbours if it is a file, and to blame for what it raises."""
        if not isinstance(self.source, Path):
            with blaming(self.path):
                yield
            return
        model = loaded_file(self.proof().model.build)
        with neighbours_importable(self.source, model), blaming(self.path), blaming(model or self.path):
            yield


@dataclass(frozen=True)
class Loaded:
    """The files that were read for a proof, with digests of what they said, and what is wrong with them if it is."""

    files: Mapping[Path, str]
    error: FdverifyError | None


def load(case: Case) -> Loaded:
    """Run the file, and nothing else: whether that ends is the first question."""
    try:
        case.proof()
    except FdverifyError as error:
        return Loaded(_files(case), error)
    return Loaded(_files(case), None)


def _files(case: Case) -> dict[Path, str]:
    return {path: digest(content) for path, content in contents_read(case.path).items()}


@dataclass(frozen=True)
class Subject:
    """What a proof is about, for reports."""

    model: str
    options: Mapping[str, str]
    parameters: Mapping[str, int | str]
    goal: str
    goal_meaning: str
    meanings: Mapping[str, str]
    sources: Mapping[str, str]
    begins: Source
    """Where the proof is made in its file."""
    definitions: Mapping[str, Source]
    doubted: tuple[str, ...]
    """Conjuncts that are meant to fail, and are hypotheses of nothing but themselves."""
    hints: Mapping[str, str]
    """What the author says is to be done about a claim that fails."""
    assumptions: Mapping[str, str]
    k: int
    reduction: str | None
    """How a liveness goal is argued for."""
    bounds: tuple[Bound, ...]
    fairness: Mapping[str, str]
    """What a liveness goal assumes to hold again and again."""

    def meaning(self, about: str) -> str:
        """What a conjunct, a premise or the goal says."""
        return self.meanings.get(about, self.goal_meaning)


@dataclass(frozen=True)
class Prepared:
    """The obligations, and for each whether it was proved before."""

    subject: Subject
    questions: tuple[tuple[Question, bool], ...]
    files: Mapping[Path, str]
    """As when it was loaded, with what was imported since."""


@dataclass(frozen=True)
class WitnessShown:
    """A run, and what holds at its end."""

    shows: str
    run: ShownRun


@dataclass(frozen=True)
class VacuityShown:
    """What was found out about vacuity, with runs ready to be shown."""

    obligations: tuple[Obligation, ...]
    detail: str
    notes: tuple[str, ...]
    witnesses: tuple[WitnessShown, ...]
    dead_end: ShownRun | None
    false: tuple[str, ...]


@dataclass(frozen=True)
class BrokenShown:
    """A step out of the invariant, whether it is reached in words, and the run that does if there is one."""

    step: ShownRun
    words: str
    run: ShownRun | None
    breaks_goal: bool


def prepare(case: Case, cache_root: Path | None) -> Prepared:
    proof = case.proof()
    cache = None if cache_root is None else Cache(cache_root)
    with case.at_home():
        invariant = case.invariant()
        check_parameters(invariant.system)
        found = tuple((q, cache is not None and cache.proved(q.script)) for q in questions(invariant))
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
        doubted=tuple(each.name for each in invariant.authored if each.name in invariant.doubted),
        hints=proof.hints(),
        assumptions=proof.assumed(),
        k=case.k,
        reduction=goal.reduction if isinstance(goal, Argument) else None,
        bounds=goal.bounds if isinstance(goal, Argument) else (),
        fairness={each.name: each.meaning for each in goal.fairness} if isinstance(goal, Argument) else {},
    )
    return Prepared(subject, found, _files(case))


def decided(script: Script, cache_root: Path | None, seed: int = 0) -> Decision:
    decision = decide(script, seed, core=cache_root is not None)
    if decision.status == "unsat" and cache_root is not None:
        Cache(cache_root).remember(script, decision)
    return decision


def second_opinion(script: Script, solver: str) -> Decision:
    from fdverify.smt.second import second_opinion  # pysmt is slow to import and seldom wanted

    return second_opinion(script, solver)


def explained(case: Case, kind: Kind, about: str, depth: int, in_full: bool) -> BrokenShown | Unbroken | Undecided:
    """Why an obligation fails; only ``in_full`` is a run to it looked for."""
    from fdverify.engines.cti import explain  # numpy comes along, and nothing that is proved needs it

    with case.at_home():
        invariant = case.invariant()
        found = explain(invariant, kind, about, depth, in_full)
    return found if isinstance(found, Unbroken | Undecided) else _shown(invariant.system, found, _words(found))


def fallen(case: Case, failed: frozenset[str], in_full: int) -> dict[str, BrokenShown | Undecided]:
    """The premises of an argument that do not stand without the conjuncts that failed, and why."""
    from fdverify.engines.weaken import weakened

    with case.at_home():
        invariant = case.invariant()
        found = weakened(invariant, failed, in_full)
    without = f"without {', '.join(found.gone)}, the invariant does not imply it"
    return {
        name: why if isinstance(why, Undecided) else _shown(invariant.system, why, f"{without}; {_words(why)}")
        for name, why in found.fallen.items()
    }


def _shown(system: System, found: Broken, words: str) -> BrokenShown:
    run = None if found.reached is None else found.reached.run
    return BrokenShown(
        step=show_run(system, found.step),
        words=words,
        run=None if run is None else show_run(system, run),
        breaks_goal=found.breaks_goal,
    )


def _words(found: Broken) -> str:
    if found.reached is None:
        return "whether it is reached was not looked for"
    if found.reached.run is not None:
        what = "the goal" if found.breaks_goal else found.about
        return f"{what} is false in a reachable state, after {rounds(found.reached.rounds)}"
    if found.reached.complete:
        return "not reached: at these parameters it holds in every reachable state; the invariant needs strengthening"
    return f"not reached within {rounds(found.reached.rounds)}: perhaps the invariant needs strengthening"


def compared(case: Case, cache_root: Path | None) -> AuthorCodeReport:
    """Refuse functions of the author that mean something else to one of the engines, unless they passed before."""
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
    if known is None and _files(case) == files:  # what was imported meanwhile is not what the key stands for
        passed.keep(key, report)
    return report


def vacuous(case: Case, cache_root: Path | None) -> tuple[AuthorCodeReport, VacuityShown]:
    """Compare the author's functions, and look whether the proof says something; both need small instances."""
    report = compared(case, cache_root)
    return report, _vacuity(case)


def _vacuity(case: Case) -> VacuityShown:
    from fdverify.engines.vacuity import vacuity

    with case.at_home():
        invariant = case.invariant()
        found = vacuity(invariant)
    places = [(premise.claim, located(premise.place.file, premise.place.line)) for premise in found.unmet]
    notes = [f"{claim}: the premise at {place} was not met in the runs looked at" for claim, place in places]
    notes += [f"there was no {event} in the runs looked at" for event in found.unseen]
    notes += [f"phase {phase} changed nothing in the runs looked at" for phase in found.idle]
    notes += found.remarks
    return VacuityShown(
        found.obligations,
        found.detail,
        tuple(notes),
        tuple(WitnessShown(each.shows, show_run(invariant.system, each.run)) for each in found.witnesses),
        None if found.dead_end is None else show_run(invariant.system, found.dead_end),
        found.false,
    )
