"""What came of proofs and of their obligations: results, what a failure means, and suggested conjuncts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from fdverify.errors import FdverifyError, SourceLocation
from fdverify.liveness.argument import Bound
from fdverify.models.read_recorder import Reads
from fdverify.obligations.obligation import InvariantObligation, ObligationKind
from fdverify.proofs.proof_files import NoProofInFile, ProofFileSelection
from fdverify.runs.run_table import ShownRun
from fdverify.smt.script import Decision
from fdverify.verdict import Obligation, Verdict, choose_exit_code

if TYPE_CHECKING:
    from fdverify.author_code.author_check import AuthorCodeReport

_KINDS = {
    ObligationKind.INITIATION: "initially, {about} is false",
    ObligationKind.CONSECUTION: "{about} holds with all other conjuncts{but}, and is false after {rounds}",
    ObligationKind.GOAL: "all conjuncts{but} hold, and the goal {about} does not",
    ObligationKind.PREMISE: "the invariant{but} does not imply the premise {about}",
}


@dataclass(frozen=True)
class ProofSubject:
    """The description of a proof, for reports."""

    model: str
    options: Mapping[str, str]
    parameters: Mapping[str, int | str]
    goal: str
    goal_meaning: str
    meanings: Mapping[str, str]
    sources: Mapping[str, SourceLocation]
    """Where the functions of claims are written, at the line of their first decorator."""
    begins: SourceLocation
    """The line of the file that makes the proof."""
    definitions: Mapping[str, SourceLocation]
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
    meant_to_fail: tuple[str, ...]
    """All claims that are meant to fail: conjuncts, goals and assumptions."""

    def get_meaning(self, about: str) -> str:
        """Return the meaning of a conjunct, a premise or the goal."""
        return self.meanings.get(about, self.goal_meaning)


@dataclass(frozen=True)
class WitnessDisplay:
    """A witness run as plain data, and what holds at its end."""

    shows: str
    run: ShownRun


@dataclass(frozen=True)
class VacuityDisplay:
    """The results of the vacuity check, with runs as plain data."""

    obligations: tuple[Obligation, ...]
    detail: str
    notes: tuple[str, ...]
    witnesses: tuple[WitnessDisplay, ...]
    dead_end: ShownRun | None
    false: tuple[str, ...]


@dataclass(frozen=True)
class CounterexampleDisplay:
    """A counterexample to induction as plain data.  ``words`` tell whether a run reaches it, ``run`` is that run."""

    step: ShownRun
    words: str
    run: ShownRun | None
    breaks_goal: bool


@dataclass(frozen=True)
class Stability:
    """How an obligation fared under other seeds: how many of them proved it, and the solver effort it took."""

    seeds: int
    passed: int
    effort_least: int
    effort_median: int
    effort_most: int


@dataclass
class CheckedObligation:
    """What came of one obligation."""

    question: InvariantObligation
    verdict: Verdict | None = None
    seconds: float = 0.0
    detail: str = ""
    cached: bool = False
    effort: int = 0
    """Z3's count of its work to decide it."""
    kept: Path | None = None
    broken: CounterexampleDisplay | None = None
    second: str | None = None
    decisions: list[Decision] = field(default_factory=list)

    @property
    def is_about_conjunct(self) -> bool:
        return self.question.kind in (ObligationKind.INITIATION, ObligationKind.CONSECUTION)

    def compute_stability(self) -> Stability | None:
        if not self.decisions:
            return None
        efforts = sorted(decision.effort for decision in self.decisions)
        passed = sum(decision.status == "unsat" for decision in self.decisions)
        return Stability(len(self.decisions), passed, efforts[0], int(median(efforts)), efforts[-1])

    def build_obligation(self) -> Obligation:
        verdict = Verdict.UNKNOWN if self.verdict is None else self.verdict
        return Obligation(self.question.name, self.question.kind, verdict, self.seconds, self.detail)


@dataclass
class ProofResult:
    """What came of one file: a verdict with what it rests on, or an error."""

    path: Path
    name: str
    """The file's, and its folder's where two files have the same."""
    subject: ProofSubject | None = None
    error: FdverifyError | None = None
    verdict: Verdict = Verdict.UNKNOWN
    detail: str = ""
    checked: list[CheckedObligation] = field(default_factory=list)
    vacuity: VacuityDisplay | None = None
    author_code: AuthorCodeReport | None = None
    """What was found out about the author's functions; nothing is proved before that."""
    lost: str | None = None
    """Why there are no obligations."""
    seconds: float = 0.0
    """Spent on it by all workers together."""
    files: Mapping[Path, str] = field(default_factory=dict)
    """The users' files that were run for it, with digests of what they said then."""
    reads: Reads | None = None
    """All that these files have read."""

    @property
    def obligations(self) -> list[Obligation]:
        vacuity = [] if self.vacuity is None else list(self.vacuity.obligations)
        return [*(checked.build_obligation() for checked in self.checked), *vacuity]

    @property
    def is_from_cache(self) -> bool:
        """Whether no obligation was decided in this run: all were proved before."""
        return bool(self.checked) and all(checked.cached for checked in self.checked)

    @property
    def exit_code(self) -> int:
        return self.verdict.exit_code if self.error is None else self.error.exit_code

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know besides the verdict."""
        sampled = () if self.author_code is None else self.author_code.format_notes()
        return (*sampled, *(() if self.vacuity is None else self.vacuity.notes))

    @property
    def witnesses(self) -> tuple[WitnessDisplay, ...]:
        return () if self.vacuity is None else self.vacuity.witnesses

    def find_hint(self, checked: CheckedObligation) -> str | None:
        """What the author of a claim says is to be done when it fails; a conjunct may have the name of the goal."""
        own = checked.is_about_conjunct or checked.question.kind is ObligationKind.GOAL
        return None if self.subject is None or not own else self.subject.hints.get(checked.question.about)


def compute_exit_code(results: Iterable[ProofResult]) -> int:
    """The most serious one."""
    return choose_exit_code({result.exit_code for result in results})


def select_with_proof(selection: ProofFileSelection, results: Sequence[ProofResult]) -> tuple[list[ProofResult], int]:
    """What came of the files that have a proof, and how many others there are in the folders that were named."""
    optional = selection.get_optional_files()
    without = {each.path for each in results if each.path in optional and isinstance(each.error, NoProofInFile)}
    selection.check_folders(without)
    return [each for each in results if each.path not in without], selection.without + len(without)


def describe_failure(result: ProofResult, checked: CheckedObligation) -> str:
    question = checked.question
    rounds = "this round" if question.rounds == 1 else f"these {question.rounds} rounds"
    doubted = () if result.subject is None else result.subject.doubted
    own = question.about if question.kind is ObligationKind.CONSECUTION else None
    left_out = ", ".join(name for name in doubted if name != own)
    but = f" but what is meant to fail ({left_out})" if left_out else ""
    return _KINDS[question.kind].format(about=question.about, rounds=rounds, but=but)


@dataclass(frozen=True)
class SuggestedConjunct:
    """A conjunct to be added: its name, what it returns, and the text to be pasted into the file."""

    name: str
    formula: str
    source: str


@dataclass(frozen=True)
class Suggestion:
    """Conjuncts to be added, what they need imported, and the obligations that are not proved even so."""

    conjuncts: tuple[SuggestedConjunct, ...]
    imports: tuple[str, ...]
    unproved: tuple[str, ...]

    WRITTEN = ("proves", "conjuncts", "imports", "unproved")

    @property
    def proves(self) -> bool:
        return not self.unproved


@dataclass(frozen=True)
class ProofSuggestions:
    """The suggestions for a proof, those that prove first; a remark says why there are none, or none such."""

    path: Path
    suggestions: tuple[Suggestion, ...]
    remark: str
