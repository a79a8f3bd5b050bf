"""What the cutoff says of a template and a property, put together: in a process that can be given up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from fdverify.cutoff.indexed_formula import CutoffProperty, parse_property
from fdverify.cutoff.lemma_check import CarriedProof, LemmaResult, check_lemmas
from fdverify.cutoff.rounds import ComputationModel, Rounds
from fdverify.cutoff.small_system import ExplorationResult, SmallSystem, explore_small_system, format_run
from fdverify.cutoff.template import Claim, Template
from fdverify.cutoff.template_catalogue import DEFAULT_VARIANT, SHIPPED, find_template
from fdverify.errors import UsageError
from fdverify.models.loading import allow_neighbour_imports, blame_errors_on
from fdverify.verdict import Verdict, worst
from fdverify.workers.worker_process import TimeLimitReached, WorkerDied, run_in_worker


@dataclass(frozen=True)
class SmallSystemBounds:
    """A small system to be explored."""

    processes: int
    delta: int
    phi: int
    computation: ComputationModel = ComputationModel.PARTIAL_SYNCHRONY
    depth: int | None = None


@dataclass(frozen=True)
class CutoffQuestion:
    """A template and a property by name or formula; options are the shipped template's."""

    template: str
    options: Mapping[str, str | int] = field(default_factory=dict)
    property: str | None = None
    second: str | None = None
    small: SmallSystemBounds | None = None
    proofs: tuple[Path, ...] = ()
    """Proofs that are to carry over to N processes; those that ship, by default."""

    def load_template(self) -> Template:
        return find_template(self.template, self.options)

    def list_claims(self, template: Template) -> list[Claim]:
        """What is asked about: a property of the template, a formula, or all that the template claims."""
        if self.property is None:
            return list(template.claims)
        if "(" in self.property:
            return [Claim(self.property, self.property, "as it was given")]
        return [template.find_claim(self.property)]


@dataclass(frozen=True)
class ExploredClaim:
    """What became of a claim in a small system, of different processes or of each ``with_itself``.

    ``run`` are the configurations of a run that violates it, in words; those after ``loop`` can come back for ever.
    """

    property: str
    with_itself: bool
    verdict: Verdict
    configurations: int
    rounds: int
    processes: tuple[int, ...] = ()
    run: tuple[Mapping[str, str], ...] = ()
    loop: int | None = None


Event: TypeAlias = LemmaResult | CarriedProof | ExploredClaim


@dataclass
class CutoffAnswer:
    checked: list[LemmaResult] = field(default_factory=list)
    carried: list[CarriedProof] = field(default_factory=list)
    explored: list[ExploredClaim] = field(default_factory=list)
    lost: str | None = None
    """Why the rest is not known."""

    @property
    def verdict(self) -> Verdict:
        """Of the lemmas alone."""
        verdicts = {checked.verdict for checked in self.checked}
        for verdict in (Verdict.VIOLATED, Verdict.VACUOUS, Verdict.UNKNOWN):
            if verdict in verdicts:
                return verdict
        return Verdict.UNKNOWN if self.lost is not None else Verdict.PROVED

    @property
    def exit_code(self) -> int:
        codes = {self.verdict.exit_code, *(each.verdict.exit_code for each in self.explored)}
        if any(each.undecided_at_start for each in self.carried):
            codes.add(Verdict.UNKNOWN.exit_code)
        return worst(codes)


def _decide_verdict(found: ExplorationResult) -> Verdict:
    if not found.holds:
        return Verdict.VIOLATED
    if found.dead_end:
        return Verdict.VACUOUS
    return Verdict.PROVED if found.complete else Verdict.BOUNDED


def parse_properties(question: CutoffQuestion) -> dict[str, CutoffProperty]:
    """The shape of each claim, or why it has none that fits."""
    template = question.load_template()
    found = {claim.name: parse_property(template, claim.formula) for claim in question.list_claims(template)}
    for name, shape in found.items():
        if question.small is not None and shape.temporal is None:
            raise UsageError(
                f"only G and F G of what is true of states is explored, not {name}", "leave out --processes"
            )
    return found


def answer_question(question: CutoffQuestion, time_limit: float | None, report: Callable[[str], None]) -> CutoffAnswer:
    """Check, in a worker process; what is not done in time is not known."""
    made = CutoffAnswer()

    def record_event(event: Event) -> None:
        match event:
            case LemmaResult():
                made.checked.append(event)
                report(event.name)
            case CarriedProof():
                made.carried.append(event)
                report(event.proof)
            case ExploredClaim():
                made.explored.append(event)
                report(event.property)

    try:
        run_in_worker(_CutoffTask(question), time_limit, record_event)
    except TimeLimitReached:
        limit = "" if time_limit is None else f" of {time_limit:g} s"
        made.lost = f"the time limit{limit} was reached"
    except WorkerDied as end:
        made.lost = str(end)
    return made


@dataclass(frozen=True)
class _CutoffTask:
    question: CutoffQuestion

    def __call__(self, send: Callable[[Event], None]) -> None:
        question = self.question
        template = question.load_template()
        path = Path(question.template.rsplit(":", 1)[0])
        with allow_neighbour_imports(path), blame_errors_on(path):
            check_lemmas(template.rounds, question.second, send)
        if question.template == SHIPPED:
            self._check_detector(send)
        if question.small is not None:
            with allow_neighbour_imports(path), blame_errors_on(path):
                self._explore_claims(template, question.small, send)

    def _check_detector(self, send: Callable[[Event], None]) -> None:
        from fdverify.cutoff.detector_lemmas import check_carried_proofs, check_detector_lemmas

        template = self.question.load_template()
        variant = str(self.question.options.get("variant", DEFAULT_VARIANT))
        check_detector_lemmas(variant, template.rounds, self.question.second, send)
        check_carried_proofs(variant, template.start, self.question.proofs, send)

    def _explore_claims(self, template: Template, small: SmallSystemBounds, send: Callable[[Event], None]) -> None:
        for claim in self.question.list_claims(template):
            shape = parse_property(template, claim.formula)
            for equal in (False, True) if len(shape.indexes) == 2 else (False,):
                if not equal and len(shape.indexes) > small.processes:
                    continue
                # Rounds of the class never read a pair for another one; others may.
                watched = (
                    None if type(template.rounds) is not Rounds else _list_watched_pairs(small.processes, shape, equal)
                )
                instance = SmallSystem(template, small.processes, small.delta, small.phi, small.computation, watched)
                send(
                    _summarise_exploration(
                        claim, equal, instance, explore_small_system(instance, shape, small.depth, equal)
                    )
                )


def _summarise_exploration(claim: Claim, equal: bool, instance: SmallSystem, found: ExplorationResult) -> ExploredClaim:
    rows = tuple(format_run(instance, found.run))
    loop = None if found.loop is None else len(format_run(instance, found.run[: found.loop + 1])) - 1
    return ExploredClaim(
        claim.name, equal, _decide_verdict(found), found.states, found.rounds, found.processes, rows, loop
    )


def _list_watched_pairs(processes: int, shape: CutoffProperty, equal: bool) -> list[tuple[int, int]]:
    """The pairs that the property reads, of the first processes: they stand for all, by symmetry."""
    first = [1] * len(shape.indexes) if equal else list(range(1, processes + 1))
    meant = dict(zip(shape.indexes, first, strict=False))
    read = [part.indexes for part in shape.formula.walk() if len(part.indexes) == 2]
    return list(dict.fromkeys((meant[p], meant[q]) for p, q in read)) or [(1, 1)]
