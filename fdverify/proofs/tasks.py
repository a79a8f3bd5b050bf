"""The tasks of a proof.  Worker processes load the file themselves and return plain data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdverify.cache.signed_records import compute_digest
from fdverify.engines.instances import check_parameters
from fdverify.errors import FdverifyError, ResourcesExhausted, format_location
from fdverify.liveness.argument import Argument
from fdverify.models.loading import (
    allow_neighbour_imports,
    blame_errors_on,
    collect_contents_read,
    find_user_file,
)
from fdverify.models.model import OptionValue
from fdverify.models.read_recorder import Reads, collect_reads, digest_modules_early, start_recording
from fdverify.models.system import System
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.obligation import (
    CounterexampleToInduction,
    InvariantObligation,
    NoCounterexample,
    ObligationKind,
    UnknownCounterexample,
)
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_result import CounterexampleDisplay, ProofSubject, VacuityDisplay, WitnessDisplay
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.runs.run import format_rounds
from fdverify.runs.run_table import show_run
from fdverify.smt.decide import decide_script, prove_scripts
from fdverify.smt.proof_cache import ProofCache
from fdverify.smt.script import Assertion, Decision, Script
from fdverify.workers.worker_process import convert_error

if TYPE_CHECKING:
    from fdverify.author_code.author_check import AuthorCodeReport


@dataclass(frozen=True)
class ProofCase:
    """A proof, as a file or as an object, with parameters, options and the depth k of the induction."""

    source: Path | Proof
    parameters: Mapping[str, int]
    options: Mapping[str, OptionValue]
    k: int

    @property
    def path(self) -> Path:
        return self.source if isinstance(self.source, Path) else self.source.source.file

    @classmethod
    def from_settings(cls, source: Path | Proof, settings: ProofSettings) -> ProofCase:
        return cls(source, settings.parameters, settings.options, settings.k)

    def load(self) -> LoadedProof:
        """Run the file, and nothing else: it may not terminate."""
        start_recording()
        try:
            proof: Proof | FdverifyError = load_proof(self.source) if isinstance(self.source, Path) else self.source
        except FdverifyError as error:
            proof = error
        return LoadedProof(self, proof)


@dataclass(frozen=True)
class LoadedProof:
    """A proof in the process that has loaded it, or the error if loading failed."""

    case: ProofCase
    outcome: Proof | FdverifyError

    @property
    def proof(self) -> Proof:
        if isinstance(self.outcome, FdverifyError):
            raise self.outcome
        return self.outcome

    @cached_property
    def invariant(self) -> Invariant:
        """The invariant to check; it is built in the author's context."""
        with self.enter_author_context():
            return self.proof.build_invariant(self.case.parameters, self.case.options, self.case.k)

    @contextmanager
    def enter_author_context(self) -> Iterator[None]:
        """Set up for running the author's code: it can import files beside it, and its errors name its lines."""
        source, path = self.case.source, self.case.path
        if not isinstance(source, Path):
            with blame_errors_on(path):
                yield
            return
        model = find_user_file(self.proof.model.build)
        with allow_neighbour_imports(source, model), blame_errors_on(path), blame_errors_on(model or path):
            yield

    def digest_files(self) -> dict[Path, str]:
        """Return the digests of the files that were read so far for the proof, as they were when they were read."""
        return {path: compute_digest(content) for path, content in collect_contents_read(self.case.path).items()}

    def collect_reads(self) -> Reads:
        return collect_reads(self.digest_files())

    def build_answer(self, value: Any = None, error: FdverifyError | None = None) -> AnswerOnProof:
        files = self.digest_files()
        return AnswerOnProof(value, error, files, collect_reads(files))


@dataclass(frozen=True)
class TaskOnProof:
    """A task of a process that has loaded the proof: ``work`` gets the proof and the arguments."""

    work: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self, loaded: LoadedProof) -> AnswerOnProof:
        try:
            return loaded.build_answer(self.work(loaded, *self.arguments))
        except BaseException as error:
            converted = convert_error(error)
            if isinstance(converted, ResourcesExhausted):
                raise  # the task is lost
            return loaded.build_answer(error=converted)


@dataclass(frozen=True)
class AnswerOnProof:
    """The value of a task or its error, the digests of the users' files run until then, and all that these read."""

    value: Any
    error: FdverifyError | None
    files: Mapping[Path, str]
    reads: Reads


@dataclass(frozen=True)
class PreparedObligation:
    """An obligation, and what is known of it already: that the cache holds a proof of it, or a proof found at once."""

    question: InvariantObligation
    is_cached: bool
    proof: Decision | None


@dataclass(frozen=True)
class PreparedProof:
    """What a proof is about, and its obligations."""

    subject: ProofSubject
    obligations: tuple[PreparedObligation, ...]


@dataclass(frozen=True)
class ObligationSelection:
    """The names of obligations, or of what they are about; ``None`` selects all."""

    names: frozenset[str] | None = None

    def includes(self, question: InvariantObligation) -> bool:
        return self.names is None or not self.names.isdisjoint((question.name, question.about))


NO_OBLIGATIONS = ObligationSelection(frozenset())


_THREADS = "OPENBLAS_NUM_THREADS"
_WORKER_MODULES = ("fdverify.author_code.author_check", "fdverify.obligations.vacuity")
_COMPARISON_MODULES = ("fdverify.author_code.system_comparison", "fdverify.author_code.source.source_reader")


def import_worker_modules(compares: bool) -> None:
    """Import the modules that every worker process needs: forked workers share them.

    Most of the author's functions need no comparison if the cache remembers that they passed.
    """
    threads = os.environ.get(_THREADS)
    os.environ.setdefault(_THREADS, "1")  # a process whose numpy has threads should not fork
    for module in (*_WORKER_MODULES, *(_COMPARISON_MODULES if compares else ())):
        import_module(module)
    if threads is None:
        del os.environ[_THREADS]
    digest_modules_early()


def prepare_obligations(
    loaded: LoadedProof, reused: Path | None, recorded: Path | None, proved_at_once: ObligationSelection
) -> PreparedProof:
    """Generate the obligations, look each up in the cache to reuse, and try to prove the selected ones at once."""
    questions = _generate_obligations(loaded)
    cache = None if reused is None else ProofCache(reused)
    cached = {question.name for question in questions if cache is not None and cache.has_proof(question.script)}
    open_questions = [each for each in questions if each.name not in cached and proved_at_once.includes(each)]
    proofs = prove_by_step(open_questions, recorded)
    return PreparedProof(
        _describe_subject(loaded),
        tuple(PreparedObligation(each, each.name in cached, proofs.get(each.name)) for each in questions),
    )


def prove_by_step(questions: Sequence[InvariantObligation], cache_root: Path | None) -> dict[str, Decision]:
    """Try to prove obligations, those of one step together; return the proofs by the obligations' names."""
    groups: dict[tuple[Assertion, ...], list[InvariantObligation]] = {}
    for question in questions:
        groups.setdefault(question.script.step, []).append(question)
    proofs: dict[str, Decision] = {}
    for group in groups.values():
        decisions = prove_obligations([question.script for question in group], cache_root)
        proofs |= {each.name: found for each, found in zip(group, decisions, strict=True) if found is not None}
    return proofs


def _describe_subject(loaded: LoadedProof) -> ProofSubject:
    proof, invariant = loaded.proof, loaded.invariant
    goal = invariant.goal
    return ProofSubject(
        model=invariant.system.name,
        options=invariant.system.options,
        parameters=invariant.system.describe_parameters(),
        goal=goal.name,
        goal_meaning=goal.meaning,
        meanings={claim.name: claim.meaning for claim in (*invariant.conjuncts, *invariant.conclusions)},
        sources=proof.sources,
        begins=proof.source,
        definitions=proof.locate_definitions(),
        doubted=tuple(claim.name for claim in invariant.authored if claim.name in invariant.doubted),
        hints=proof.get_hints(),
        assumptions=proof.describe_assumptions(),
        k=loaded.case.k,
        reduction=goal.reduction if isinstance(goal, Argument) else None,
        bounds=goal.bounds if isinstance(goal, Argument) else (),
        fairness={claim.name: claim.meaning for claim in goal.fairness} if isinstance(goal, Argument) else {},
        meant_to_fail=tuple(proof.get_expected_verdicts()),
    )


def _generate_obligations(loaded: LoadedProof) -> list[InvariantObligation]:
    """Generate the obligations; in a fresh process, their texts are the same every time."""
    invariant = loaded.invariant
    with loaded.enter_author_context():
        check_parameters(invariant.system)
        return build_obligations(invariant)


def decide_obligation(script: Script, cache_root: Path | None, seed: int = 0) -> Decision:
    """Decide an obligation, and record a proof in the cache."""
    decision = decide_script(script, seed, core=cache_root is not None)
    if decision.status == "unsat" and cache_root is not None:
        ProofCache(cache_root).record_proof(script, decision)
    return decision


def prove_obligations(scripts: Sequence[Script], cache_root: Path | None) -> list[Decision | None]:
    """Try to prove obligations of one step together, and record the proofs in the cache."""
    decisions = prove_scripts(scripts)
    if cache_root is not None:
        cache = ProofCache(cache_root)
        for script, decision in zip(scripts, decisions, strict=True):
            if decision is not None:
                cache.record_proof(script, decision)
    return decisions


def ask_second_solver(script: Script, solver: str) -> Decision:
    from fdverify.smt.second_opinion import decide_with_solver  # pysmt is slow to import and rarely needed

    return decide_with_solver(script, solver)


def explain_failure(
    loaded: LoadedProof, kind: ObligationKind, about: str, depth: int, in_full: bool
) -> CounterexampleDisplay | NoCounterexample | UnknownCounterexample:
    """Find a counterexample to induction for a failed obligation; if ``in_full``, also search for a run to it."""
    from fdverify.obligations.counterexample import (
        explain_failure,  # this imports numpy, which a successful check does not need
    )

    invariant = loaded.invariant
    with loaded.enter_author_context():
        result = explain_failure(invariant, kind, about, depth, in_full)
    return (
        result
        if isinstance(result, NoCounterexample | UnknownCounterexample)
        else _display_counterexample(invariant.system, result, _describe_reachability(result))
    )


def confirm_proof(loaded: LoadedProof, question: InvariantObligation) -> bool:
    """Tell whether this process, which has loaded the file anew, finds no counterexample to the very same obligation.

    A file may read data that has changed since the obligation was generated.
    """
    from fdverify.obligations.counterexample import explain_failure

    if question not in _generate_obligations(loaded):
        return False
    with loaded.enter_author_context():
        result = explain_failure(loaded.invariant, question.kind, question.about, question.rounds, in_full=False)
    return isinstance(result, NoCounterexample)


def find_fallen_premises(
    loaded: LoadedProof, failed: frozenset[str], in_full: int
) -> dict[str, CounterexampleDisplay | UnknownCounterexample]:
    """Find the premises of an argument that do not hold without the failed conjuncts, each with a counterexample."""
    from fdverify.obligations.weakening import weaken_invariant

    invariant = loaded.invariant
    with loaded.enter_author_context():
        remaining = weaken_invariant(invariant, failed, in_full)
    without = f"without {', '.join(remaining.gone)}, the invariant does not imply it"
    return {
        name: reason
        if isinstance(reason, UnknownCounterexample)
        else _display_counterexample(invariant.system, reason, f"{without}; {_describe_reachability(reason)}")
        for name, reason in remaining.fallen.items()
    }


def _display_counterexample(
    system: System, counterexample: CounterexampleToInduction, words: str
) -> CounterexampleDisplay:
    run = None if counterexample.reached is None else counterexample.reached.run
    return CounterexampleDisplay(
        step=show_run(system, counterexample.step),
        words=words,
        run=None if run is None else show_run(system, run),
        breaks_goal=counterexample.breaks_goal,
    )


def _describe_reachability(counterexample: CounterexampleToInduction) -> str:
    reached = counterexample.reached
    if reached is None:
        return "its reachability was not checked"
    if reached.run is not None:
        claim = "the goal" if counterexample.breaks_goal else counterexample.about
        return f"{claim} is false in a reachable state, after {format_rounds(reached.rounds)}"
    if reached.complete:
        return "not reached: at these parameters it holds in every reachable state; the invariant needs strengthening"
    return f"not reached within {format_rounds(reached.rounds)}: perhaps the invariant needs strengthening"


def compare_author_code(loaded: LoadedProof, cache_root: Path | None) -> AuthorCodeReport:
    """Refuse an author's function that the engines interpret differently; skip the comparison if it is in the cache."""
    from fdverify.author_code.author_check import PassedChecks, check_author_code, compute_check_key

    invariant, reads = loaded.invariant, loaded.collect_reads()
    with loaded.enter_author_context():
        claims = loaded.proof.list_author_functions(invariant)
        key = None if cache_root is None else compute_check_key(invariant.system, claims, reads)
        if cache_root is None or key is None:
            return check_author_code(invariant.system, claims)
        passed = PassedChecks(cache_root)
        known = passed.find(key)
        report = check_author_code(invariant.system, claims) if known is None else known
    now = loaded.collect_reads()
    if known is None and key == compute_check_key(invariant.system, claims, now):  # nothing was read meanwhile
        passed.keep(key, report)
    return report


def compare_and_check_vacuity(loaded: LoadedProof, cache_root: Path | None) -> tuple[AuthorCodeReport, VacuityDisplay]:
    """Compare the author's functions and check for vacuity, in one task: both need the same small instances."""
    report = compare_author_code(loaded, cache_root)
    return report, _check_vacuity(loaded)


def _check_vacuity(loaded: LoadedProof) -> VacuityDisplay:
    from fdverify.obligations.vacuity import check_vacuity

    invariant = loaded.invariant
    with loaded.enter_author_context():
        result = check_vacuity(invariant)
    places = [(premise.claim, format_location(premise.place.file, premise.place.line)) for premise in result.unmet]
    notes = [f"{claim}: the premise at {place} was not met in the runs looked at" for claim, place in places]
    notes += [f"there was no {event} in the runs looked at" for event in result.unseen]
    notes += [f"phase {phase} changed nothing in the runs looked at" for phase in result.idle]
    notes += result.remarks
    return VacuityDisplay(
        result.obligations,
        result.detail,
        tuple(notes),
        tuple(WitnessDisplay(witness.shows, show_run(invariant.system, witness.run)) for witness in result.witnesses),
        None if result.dead_end is None else show_run(invariant.system, result.dead_end),
        result.false,
    )
